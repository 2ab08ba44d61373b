// A fast hash of short strings, and the arithmetic it is made of. The METEOR index lies in its
// file as this hash decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace reelscore {

constexpr std::uint64_t kPrime1 = 0x9E3779B97F4A7C15, kPrime2 = 0xC2B2AE3D27D4EB4F;

inline std::uint64_t rotate(std::uint64_t value, int bits) {
    return value << bits | value >> (64 - bits);
}

inline std::uint64_t load64(const void* bytes) {
    std::uint64_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

// Up to seven bytes, the first one lowest, without a call.
inline std::uint64_t load_few(const char* bytes, std::size_t size) {
    if (size >= 4) {
        std::uint32_t low, high;
        std::memcpy(&low, bytes, 4);
        std::memcpy(&high, bytes + size - 4, 4);
        return low | std::uint64_t{high} << (8 * (size - 4));
    }
    if (size == 0) return 0;
    const auto byte = [&](std::size_t k) {
        return std::uint64_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
    };
    return byte(0) | byte(size / 2) | byte(size - 1);
}

inline std::uint64_t mix(std::uint64_t value) {
    value ^= value >> 32;
    value *= kPrime1;
    value ^= value >> 29;
    value *= kPrime2;
    return value ^ value >> 32;
}

// Texts of one length up to kToldApart have different hashes: each step can be undone.
constexpr std::size_t kToldApart = 8;

inline std::uint64_t hash_bytes(std::string_view text) {
    std::uint64_t hash = text.size() * kPrime2;
    std::size_t k = 0;
    for (; k + 8 <= text.size(); k += 8) {
        hash = rotate((hash ^ load64(text.data() + k)) * kPrime1, 27);
    }
    if (k < text.size()) {
        hash = rotate((hash ^ load_few(text.data() + k, text.size() - k)) * kPrime1, 27);
    }
    return mix(hash);
}

// The same of a text of one to seven bytes, the first one lowest.
inline std::uint64_t hash_of_few(std::uint64_t bytes, std::size_t size) {
    return mix(rotate((size * kPrime2 ^ bytes) * kPrime1, 27));
}

}  // namespace reelscore
