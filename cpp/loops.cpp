#include "loops.hpp"

#include <vector>

#include "unicode.hpp"

namespace reelscore {

std::int64_t loop_start(std::string_view text) {
    std::vector<std::string_view> words;
    words.reserve(text.size() / 4);
    split_whitespace(text, [&](std::string_view word) { words.push_back(word); });
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
