// The automaton that finds the tokenizer's longest match, over tables made when the library is
// built (see ptb_patterns.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace reelscore::ptb {

struct Match {
    int rule = -1;        // -1: no rule fits here
    std::size_t end = 0;  // where the match ends, `ahead` included
    bool has_ahead = false;
    bool is_open = false;          // more text might have changed it
    bool is_told_by_next = false;  // nothing behind the next character was looked at
};

// Scans that run far past the last match and find nothing are remembered here, so that text
// such as "<a <a <a …" costs linear time: (state, place) pairs that lead nowhere.
class Misses {
  public:
    // Frees the memory too: clearing a large table anew for each line would cost more.
    void clear() {
        if (!pairs_.empty()) std::unordered_set<std::uint64_t>().swap(pairs_);
    }

  private:
    friend Match longest(std::string_view, std::size_t, std::size_t, Misses&);
    std::unordered_set<std::uint64_t> pairs_;
    std::vector<std::uint64_t> trail_;
};

// The longest match at text[begin]; the lexer may look up to text[end - 1].
Match longest(std::string_view text, std::size_t begin, std::size_t end, Misses& misses);

// Whether a blank before this character is a match of its own, whatever follows.
bool is_lone_blank(char next);

// Where the token of a match with `ahead` ends and that begins: as late as possible.
std::size_t token_end(std::string_view text, std::size_t begin, const Match& match);

}  // namespace reelscore::ptb
