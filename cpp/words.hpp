// Words as integers: every distinct word gets a number, so that the n-gram kernels compare and
// hash integers only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hashing.hpp"
#include "strings.hpp"

namespace reelscore {

// Numbers words, or any texts, in the order of their first appearance.
class Vocabulary {
  public:
    std::uint32_t id(std::string_view word) { return id(word, hash_bytes(word)); }
    // The same where hash_bytes(word) is known.
    std::uint32_t id(std::string_view word, std::uint64_t hash);
    std::size_t size() const { return hashes_.size(); }
    std::string_view word(std::size_t id) const { return words_.view()[id]; }
    const Strings& words() const { return words_; }

  private:
    void grow();

    Strings words_;
    std::vector<std::uint64_t> hashes_;  // one per word
    std::vector<std::uint32_t> slots_;   // word id + 1, or 0 where free; open addressing
};

// whitespace: as Python's str.split(), any run of Unicode white space separates words.
// blank: as str.split(" "), each blank separates, so that two blanks enclose an empty word.
enum class Split { whitespace, blank };

struct Words {
    std::vector<std::uint32_t> ids;
    std::vector<std::int64_t> offsets{0};
};

// A list of captions, each a run of word ids; owns nothing.
struct WordsView {
    struct Run {
        const std::uint32_t* first;
        std::size_t size;
        std::uint32_t operator[](std::size_t k) const { return first[k]; }
        const std::uint32_t* begin() const { return first; }
        const std::uint32_t* end() const { return first + size; }
    };

    const std::uint32_t* ids = nullptr;
    const std::int64_t* offsets = nullptr;
    std::size_t size = 0;

    Run operator[](std::size_t k) const {
        return {ids + offsets[k], static_cast<std::size_t>(offsets[k + 1] - offsets[k])};
    }
};

Words word_ids(StringsView captions, Split split, Vocabulary& vocabulary);

// Whether the two ways to split give the same words: no white space but single inner blanks.
bool plainly_spaced(StringsView captions);

}  // namespace reelscore
