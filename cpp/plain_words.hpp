// The words of texts that have no other white space than blanks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bits.hpp"
#include "hashing.hpp"

namespace reelscore {

// Whether a text is made of visible ASCII characters and blanks. Without a branch at each
// character, so that many are looked at at once.
inline bool is_visible_ascii(std::string_view text) {
    std::uint8_t others = 0;
    for (char c : text) {
        const auto above_blank = static_cast<std::uint8_t>(c - ' ');
        const std::uint8_t is_other = above_blank > '~' - ' ';
        others |= is_other;
    }
    return others == 0;
}

// Calls visit(word, hash) for what stands between two blanks, and before the first and after the
// last, be it empty; hash is hash_bytes(word). Most words and the blank behind them have no more
// than eight bytes: where such a word ends follows from one comparison, and its hash from the same
// bytes, without a branch on its length.
template <typename Visit>
void split_at_blanks(std::string_view text, Visit&& visit) {
    constexpr std::uint64_t kLowest = 0x0101010101010101, kHighest = 0x8080808080808080;
    for (;;) {
        if (text.size() >= 8 && text[0] != ' ') {
            const std::uint64_t bytes = load64(text.data());
            const std::uint64_t differences = bytes ^ (kLowest * ' ');
            // The highest bit of each byte that is a blank, up to the first.
            const std::uint64_t blanks = (differences - kLowest) & ~differences & kHighest;
            if (blanks != 0) {
                const std::size_t bits = lowest_bit(blanks) - 7;  // of the word
                const std::uint64_t word = bytes & ((std::uint64_t{1} << bits) - 1);
                visit(text.substr(0, bits / 8), hash_of_few(word, bits / 8));
                text.remove_prefix(bits / 8 + 1);
                continue;
            }
        }
        const std::size_t end = std::min(text.find(' '), text.size());
        visit(text.substr(0, end), hash_bytes(text.substr(0, end)));
        if (end == text.size()) return;
        text.remove_prefix(end + 1);
    }
}

}  // namespace reelscore
