// What the fuzzers share: arbitrary bytes made into the valid UTF-8 that the kernels are promised,
// and a small METEOR index with every kind of entry.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../cpp/meteor_index.hpp"
#include "../cpp/meteor_index_builder.hpp"
#include "../cpp/strings.hpp"
#include "../cpp/unicode.hpp"

namespace reelscore::fuzz {

// Keeps what is valid UTF-8 and reads every other byte as a Latin-1 character.
inline std::string valid_utf8(std::string_view bytes) {
    std::string text;
    for (std::size_t k = 0; k < bytes.size();) {
        const auto byte = [&](std::size_t i) {
            return k + i < bytes.size() ? static_cast<unsigned char>(bytes[k + i]) : 0u;
        };
        const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
        const unsigned first = byte(0);
        std::size_t length = 1;
        char32_t point = first;
        if (first >= 0xc2 && first < 0xe0 && tail(1)) {
            length = 2;
            point = ((first & 0x1f) << 6) | (byte(1) & 0x3f);
        } else if (first >= 0xe0 && first < 0xf0 && tail(1) && tail(2)) {
            point = ((first & 0x0f) << 12) | ((byte(1) & 0x3f) << 6) | (byte(2) & 0x3f);
            length = point >= 0x800 && (point < 0xd800 || point > 0xdfff) ? 3 : 1;
        } else if (first >= 0xf0 && first < 0xf5 && tail(1) && tail(2) && tail(3)) {
            point = ((first & 0x07) << 18) | ((byte(1) & 0x3f) << 12) | ((byte(2) & 0x3f) << 6) |
                    (byte(3) & 0x3f);
            length = point >= 0x10000 && point <= 0x10ffff ? 4 : 1;
        }
        append_utf8(text, length == 1 ? first : point);
        k += length;
    }
    return text;
}

// One caption a line.
inline Strings captions(const std::uint8_t* data, std::size_t size) {
    const std::string text = valid_utf8({reinterpret_cast<const char*>(data), size});
    Strings lines;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

inline void require(bool condition) {
    if (!condition) std::abort();
}

inline const std::string& small_index() {
    static const std::string blob = [] {
        MeteorIndexBuilder builder;
        builder.add_function_words("a\nthe\nis\nof\nto\n's\n,\n.\n");
        builder.add_prefixes("# comment\nMr\nNo #NUMERIC_ONLY#\n");
        builder.add_exceptions("man\nmen\ngo\nwent gone\n");
        builder.add_synsets("car\n00000001\nautomobile\n00000001 00000002\nman\n00000003\ngo\n4\n");
        builder.add_paraphrases(
            "0.1\na lot of\nmany\n0.2\nmany\na lot of\n0.3\na b\nb a\n0.4\na\nb\n0.5\nb\na\n"
            "0.1\na a\nb\n0.2\nb\na a a\n0.1\na b a\na b\n");
        return builder.finish();
    }();
    return blob;
}

}  // namespace reelscore::fuzz
