// Bits and wide numbers on every compiler: C++17 has no <bit>, and some have no 128-bit integers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reelscore {

// Sums of two, four and eight bits side by side, then of all bytes: without an instruction of the
// processor for it, compilers would call a function.
inline std::uint32_t count_bits(std::uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555;
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return static_cast<std::uint32_t>(bits * 0x0101010101010101 >> 56);
}

// The place of the lowest bit; there must be one.
inline std::size_t lowest_bit(std::uint64_t bits) {
#if defined(__GNUC__) && !defined(REELSCORE_NO_BUILTINS)
    return static_cast<std::size_t>(__builtin_ctzll(bits));
#else
    return count_bits((bits & (~bits + 1)) - 1);
#endif
}

// Fetches what lies there into the cache, for a look at it soon.
inline void prefetch(const void* place) {
#if defined(__GNUC__) && !defined(REELSCORE_NO_BUILTINS)
    __builtin_prefetch(place);
#else
    (void)place;
#endif
}

// Enough bits for the numbers 0 to largest, at least one.
inline unsigned bits_for(std::uint64_t largest) {
    unsigned count = 1;
    while (largest >>= 1) ++count;
    return count;
}

// A number of 128 bits, with as much arithmetic as METEOR's search needs of its keys.
#if defined(__SIZEOF_INT128__) && !defined(REELSCORE_NO_INT128)
using Wide = unsigned __int128;
#else
struct Wide {
    std::uint64_t high = 0, low = 0;

    Wide() = default;
    template <typename Number>
    Wide(Number number) : low(static_cast<std::uint64_t>(number)) {}

    explicit operator std::size_t() const { return static_cast<std::size_t>(low); }

    friend Wide operator+(Wide a, Wide b) {
        a.low += b.low;
        a.high += b.high + (a.low < b.low);
        return a;
    }
    friend Wide operator-(Wide a, Wide b) {
        a.high -= b.high + (a.low < b.low);
        a.low -= b.low;
        return a;
    }
    friend Wide operator&(Wide a, Wide b) {
        a.high &= b.high;
        a.low &= b.low;
        return a;
    }
    friend Wide operator~(Wide a) {
        a.high = ~a.high;
        a.low = ~a.low;
        return a;
    }
    friend Wide operator<<(Wide a, unsigned shift) {
        if (shift >= 64) {
            a.high = a.low << (shift - 64);
            a.low = 0;
        } else if (shift > 0) {
            a.high = a.high << shift | a.low >> (64 - shift);
            a.low <<= shift;
        }
        return a;
    }
    friend bool operator<(Wide a, Wide b) {
        return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
    friend bool operator==(Wide a, Wide b) { return a.high == b.high && a.low == b.low; }
    friend bool operator>=(Wide a, Wide b) { return !(a < b); }
    Wide& operator+=(Wide other) { return *this = *this + other; }
};
#endif

}  // namespace reelscore
