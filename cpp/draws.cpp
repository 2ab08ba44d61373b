#include "draws.hpp"

#include <algorithm>
#include <array>

namespace reelscore {
namespace {

using Four = std::array<std::uint32_t, 4>;

// 2^32 times the probability of at most 0, 1, 2, ... events, rounded. A draw is how many of these
// a uniform number is not below; more than twelve have a probability below 2^-32.
constexpr std::array<std::uint32_t, 12> at_most = {
    1580030169u, 3160060337u, 3950075422u, 4213413783u, 4279248374u, 4292415292u,
    4294609778u, 4294923276u, 4294962463u, 4294966817u, 4294967253u, 4294967292u};

Four philox(Four counter, std::uint64_t key) {
    auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t(0xd2511f53u) * counter[0];
        const std::uint64_t b = std::uint64_t(0xcd9e8d57u) * counter[2];
        counter = {
            static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ low, static_cast<std::uint32_t>(b),
            static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ high, static_cast<std::uint32_t>(a)};
        low += 0x9e3779b9u;
        high += 0xbb67ae85u;
    }
    return counter;
}

std::uint8_t counted(std::uint32_t uniform) {
    std::uint8_t events = 0;
    for (std::uint32_t limit : at_most) events += uniform >= limit;
    return events;
}

// The draw of all numbers that begin with the same twelve bits; 255 where they differ.
using Table = std::array<std::uint8_t, 4096>;

Table by_leading_bits() {
    Table table{};
    for (std::uint32_t bits = 0; bits < table.size(); ++bits) {
        const std::uint8_t least = counted(bits << 20), most = counted((bits << 20) | 0xfffffu);
        table[bits] = least == most ? least : 255;
    }
    return table;
}

}  // namespace

void string_hashes(StringsView strings, std::uint64_t* out) {
    for (std::size_t k = 0; k < strings.size; ++k) {
        std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, then the finalizer of MurmurHash3
        for (char character : strings[k]) {
            hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
        }
        hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
        hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
        out[k] = hash ^ (hash >> 33);
    }
}

void poisson_draws(const std::uint64_t* items, std::size_t size, std::uint64_t seed,
                   std::size_t first, std::size_t draws, std::uint8_t* out) {
    static const Table table = by_leading_bits();
    const auto poisson = [](std::uint32_t uniform) {
        const std::uint8_t events = table[uniform >> 20];
        return events != 255 ? events : counted(uniform);
    };
    for (std::size_t k = 0; k < size; ++k) {
        const auto low = static_cast<std::uint32_t>(items[k]);
        const auto high = static_cast<std::uint32_t>(items[k] >> 32);
        for (std::size_t draw = 0; draw < draws; draw += 4) {
            const auto block = static_cast<std::uint32_t>((first + draw) / 4);
            const Four uniforms = philox({low, high, block, 0}, seed);
            for (std::size_t j = 0; j < std::min<std::size_t>(4, draws - draw); ++j) {
                out[k * draws + draw + j] = poisson(uniforms[j]);
            }
        }
    }
}

}  // namespace reelscore
