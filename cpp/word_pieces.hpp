// Texts cut into the pieces of words that an uncased BERT reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strings.hpp"
#include "words.hpp"

namespace reelscore {

// Texts by their number, found again by their characters; it never changes.
class TextNumbers {
  public:
    // Texts and their numbers.
    explicit TextNumbers(std::vector<std::pair<std::string, std::uint32_t>> texts);
    // The number of a text, or nullptr.
    const std::uint32_t* find(std::string_view text) const;
    std::size_t longest() const { return longest_; }

  private:
    std::vector<std::pair<std::string, std::uint32_t>> texts_;
    std::vector<std::uint32_t> slots_;  // place + 1, or 0 where free; open addressing
    std::size_t longest_ = 0;
};

class WordPieces {
  public:
    // Pieces by number; those that begin with ## continue a word. Marks such as [SEP] may stand in
    // texts; they begin with a bracket.
    WordPieces(StringsView pieces, const std::uint32_t* numbers, std::uint32_t unknown,
               StringsView marks, const std::uint32_t* mark_numbers);

    // The pieces of each text. ASCII is read as it is. Other characters belong to words: whoever
    // has texts with such puts them in lower case, and blanks around each punctuation mark.
    Words cut(StringsView texts, std::size_t threads) const;

  private:
    using Pieces = std::vector<std::uint32_t>;

    void cut_text(std::string_view text, std::string& word, Pieces& out) const;
    void cut_word(std::string_view word, Pieces& out) const;
    bool cut_mark(std::string_view text, std::size_t& position, Pieces& out) const;

    TextNumbers first_, further_;  // pieces at the beginning of a word, and within it
    std::uint32_t unknown_;
    std::vector<std::pair<std::string, std::uint32_t>> marks_;
};

}  // namespace reelscore
