// The little of Unicode the kernels need: UTF-8 in and out, and lower case.
#pragma once

#include <string>
#include <string_view>

namespace reelscore {

// The code point at text[position]; moves position past it. The text must be valid UTF-8.
char32_t decode(std::string_view text, std::size_t& position);

void append_utf8(std::string& out, char32_t code_point);

// Appends the lower-case form of text, as Java's String.toLowerCase(Locale.ROOT) and Python's
// str.lower() give it: full mappings (U+0130 becomes i + U+0307) and the final sigma included.
void append_lower(std::string& out, std::string_view text);

}  // namespace reelscore
