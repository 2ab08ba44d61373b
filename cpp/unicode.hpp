// The little of Unicode the kernels need: UTF-8 in and out, and lower case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reelscore {

// The code point at text[position]; moves position past it. The text must be valid UTF-8.
char32_t decode(std::string_view text, std::size_t& position);

// Without a branch at each character, so that many are looked at at once.
inline bool is_ascii(std::string_view text) {
    char bits = 0;
    for (char c : text) bits |= c;
    return (bits & 0x80) == 0;
}

// White space as Python's str.isspace(), split() and rstrip() know it.
inline bool is_space(char32_t c) {
    return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F) || c == 0x85 || c == 0xA0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

// Bytes of the white space that begins at text[k]; 0 where there is none, or inside a character.
inline std::size_t space_at(std::string_view text, std::size_t k) {
    const auto first = static_cast<unsigned char>(text[k]);
    if (first < 0x80) return is_space(first) ? 1 : 0;
    if ((first & 0xC0) == 0x80) return 0;
    std::size_t end = k;
    return is_space(decode(text, end)) ? end - k : 0;
}

// Calls visit(word) for what stands between white space, as Python's str.split() divides words.
template <typename Visit>
void split_whitespace(std::string_view text, Visit&& visit) {
    std::size_t begin = 0;
    for (std::size_t k = 0; k < text.size();) {
        const std::size_t space = space_at(text, k);
        if (space == 0) {
            ++k;
            continue;
        }
        if (k > begin) visit(text.substr(begin, k - begin));
        k += space;
        begin = k;
    }
    if (text.size() > begin) visit(text.substr(begin));
}

void append_utf8(std::string& out, char32_t code_point);

// Appends the lower-case form of text, as Java's String.toLowerCase(Locale.ROOT) and Python's
// str.lower() give it: full mappings (U+0130 becomes i + U+0307) and the final sigma included.
void append_lower(std::string& out, std::string_view text);

}  // namespace reelscore
