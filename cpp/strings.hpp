// Many strings in two flat arrays, the form in which text crosses from Python: string k is
// bytes[offsets[k] .. offsets[k + 1]), UTF-8. One million captions cost their bytes and 8 MB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reelscore {

// For suffixes that are not empty. Most fail at their last letter.
inline bool ends_with(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() && text.back() == suffix.back() &&
           text.substr(text.size() - suffix.size()) == suffix;
}

struct StringsView {
    const char* bytes = nullptr;
    const std::int64_t* offsets = nullptr;  // size + 1 entries
    std::size_t size = 0;

    std::string_view operator[](std::size_t k) const {
        return {bytes + offsets[k], static_cast<std::size_t>(offsets[k + 1] - offsets[k])};
    }
    std::size_t total_bytes() const { return static_cast<std::size_t>(offsets[size] - offsets[0]); }
    std::string_view all_bytes() const { return {bytes + offsets[0], total_bytes()}; }
};

struct Strings {
    std::string bytes;
    std::vector<std::int64_t> offsets{0};

    std::size_t size() const { return offsets.size() - 1; }
    void push_back(std::string_view text) {
        bytes.append(text);
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    void clear() {
        bytes.clear();
        offsets.resize(1);
    }
    StringsView view() const { return {bytes.data(), offsets.data(), size()}; }
};

}  // namespace reelscore
