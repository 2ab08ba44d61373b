// x to the power y, rounded correctly but for freak cases. The C library's pow is off by one bit
// in about 1 of 1000 calls, differently from machine to machine; Java's, which METEOR uses, is
// nearly always correct. Scores can only agree in every bit when pow does.
#pragma once

namespace reelscore {

// For 0 <= x <= 1 and finite y; otherwise what std::pow gives.
double precise_pow(double x, double y);

}  // namespace reelscore
