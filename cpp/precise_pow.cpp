#include "precise_pow.hpp"

#include <cmath>

namespace reelscore {
namespace {

// A number as the unevaluated sum of two doubles: about 106 bits.
struct Double2 {
    double high, low;
};

Double2 exact_sum(double a, double b) {
    const double sum = a + b;
    const double part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

// Halves of 26 bits, whose products are exact. (std::fma would do, but is a slow call on x86-64.)
Double2 split(double a) {
    const double scaled = 134217729.0 * a;  // 2^27 + 1
    const double high = scaled - (scaled - a);
    return {high, a - high};
}

Double2 exact_product(double a, double b) {
    const double product = a * b;
    const Double2 x = split(a), y = split(b);
    const double error =
        ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low;
    return {product, error};
}

Double2 operator+(Double2 a, Double2 b) {
    const Double2 high = exact_sum(a.high, b.high);
    const Double2 low = exact_sum(a.low, b.low);
    const Double2 sum = exact_sum(high.high, high.low + low.high);
    return exact_sum(sum.high, sum.low + low.low);
}

Double2 operator*(Double2 a, Double2 b) {
    const Double2 product = exact_product(a.high, b.high);
    return exact_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr Double2 kLog2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// exp(a) as a number and a power of two: a Taylor series near zero, then repeated squaring.
Double2 exp2_parts(Double2 a, int& exponent) {
    constexpr int kSquarings = 8, kTerms = 10;
    const double k = std::nearbyint(a.high / kLog2.high);
    exponent = static_cast<int>(k);
    Double2 rest = a + Double2{-k, 0.0} * kLog2;
    rest = {std::ldexp(rest.high, -kSquarings), std::ldexp(rest.low, -kSquarings)};
    Double2 sum = {1.0, 0.0};
    for (int n = kTerms; n > 0; --n) {
        const double inverse = 1.0 / n;
        const Double2 product = exact_product(inverse, n);
        const double error = ((1.0 - product.high) - product.low) / n;  // of the inverse
        sum = Double2{1.0, 0.0} + rest * (sum * Double2{inverse, error});
    }
    for (int n = 0; n < kSquarings; ++n) sum = sum * sum;
    return sum;
}

// One Newton step from the library's logarithm: log x = y + log(x exp(-y)).
Double2 precise_log(double x) {
    const double y = std::log(x);
    int exponent;
    const Double2 inverse = exp2_parts({-y, 0.0}, exponent);
    const Double2 quotient = inverse * Double2{std::ldexp(x, exponent), 0.0};
    const Double2 rest = quotient + Double2{-1.0, 0.0};
    const Double2 square = rest * rest;
    return Double2{y, 0.0} + rest + Double2{-0.5 * square.high, -0.5 * square.low};
}

}  // namespace

double precise_pow(double x, double y) {
    const double rough = std::pow(x, y);
    // Outside of this range the steps above could overflow or lose bits.
    if (!(x > 1e-30 && x < 1.0 && rough > 1e-30 && rough < 1.0)) return rough;
    int exponent;
    const Double2 result = exp2_parts(precise_log(x) * Double2{y, 0.0}, exponent);
    return std::ldexp(result.high + result.low, exponent);
}

}  // namespace reelscore
