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

// A word of up to seven bytes that ends in a blank.
struct ShortWord {
    std::uint64_t bytes = 0;  // the first one lowest
    std::size_t size = 0;     // 0 if there is no such word

    ShortWord() = default;
    // The one that begins a text. Where it ends follows from one comparison, without a branch on
    // its length, which nobody could predict.
    explicit ShortWord(std::string_view text) {
        constexpr std::uint64_t kLowest = 0x0101010101010101, kHighest = 0x8080808080808080;
        if (text.size() < 8) return;
        const std::uint64_t start = load64(text.data());
        const std::uint64_t differences = start ^ (kLowest * ' ');
        // The highest bit of each byte that is a blank, up to the first.
        const std::uint64_t blanks = (differences - kLowest) & ~differences & kHighest;
        if (blanks == 0) return;
        const std::size_t bits = lowest_bit(blanks) - 7;
        bytes = start & ((std::uint64_t{1} << bits) - 1);
        size = bits / 8;
    }
};

// Calls visit(word, hash) for what stands between two blanks, and before the first and after the
// last, be it empty; hash is hash_bytes(word).
template <typename Visit>
void split_at_blanks(std::string_view text, Visit&& visit) {
    for (;;) {
        const ShortWord word(text);
        if (word.size > 0) {
            visit(text.substr(0, word.size), hash_of_few(word.bytes, word.size));
            text.remove_prefix(word.size + 1);
            continue;
        }
        const std::size_t end = std::min(text.find(' '), text.size());
        visit(text.substr(0, end), hash_bytes(text.substr(0, end)));
        if (end == text.size()) return;
        text.remove_prefix(end + 1);
    }
}

}  // namespace reelscore
