#include "loops.hpp"

#include <vector>

#include "unicode.hpp"

namespace reelscore {
namespace {

std::vector<std::string_view> words_between_spaces(std::string_view text) {
    std::vector<std::string_view> words;
    words.reserve(text.size() / 4);
    std::size_t begin = 0;
    for (std::size_t place = 0; place < text.size();) {
        const std::size_t end = place;
        const auto first = static_cast<unsigned char>(text[place]);
        const bool is_plain = first < 0x80;
        if (is_plain) ++place;
        if (!is_space(is_plain ? first : decode(text, place))) continue;
        if (end > begin) words.push_back(text.substr(begin, end - begin));
        begin = place;
    }
    if (text.size() > begin) words.push_back(text.substr(begin));
    return words;
}

}  // namespace

std::int64_t loop_start(std::string_view text) {
    const std::vector<std::string_view> words = words_between_spaces(text);
    for (std::size_t size = 1; size <= words.size() / 2; ++size) {
        const std::size_t times = size == 1 ? 4 : size < 4 ? 3 : 2;
        std::size_t same = 0;  // words in a row that equal the word `size` places before
        for (std::size_t place = size; place < words.size(); ++place) {
            same = words[place] == words[place - size] ? same + 1 : 0;
            if (same == size * (times - 1)) {
                return static_cast<std::int64_t>(place + 1 - size * times);
            }
        }
    }
    return -1;
}

}  // namespace reelscore
