// A small pattern compiler: the rules of the PTB tokenizer are written as patterns and merged into
// one deterministic automaton, so that "the longest match wins, then the order of the rules" costs
// one table look-up a character, whatever the number of rules.
//
// Patterns are matched against code points. The notation:
//   abc  \.       characters; a backslash takes the next one literally; \n and \t as usual
//   \x{2013}      a code point in hexadecimal
//   [a-z_] [^a]   sets; a set may hold names of other sets: [{digit}.,]
//   .             any character, line feed included
//   {name}        a named pattern (see Definition)
//   ( | ) * + ? {2} {2,4}
//   (?i:...)      the ASCII letters inside stand for both cases
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "unicode.hpp"

namespace reelscore::ptb {

struct CodeRange {
    std::uint32_t first, last, step = 1;  // step 2: every second one (the capitals of Latin-2 …)
};

using CodeSet = std::vector<CodeRange>;  // sorted, disjoint, step 1

// A name for a set of characters (ranges) or for a pattern; later definitions may use earlier ones.
struct Definition {
    std::string_view name;
    std::string_view pattern;
    const CodeRange* ranges = nullptr;
    std::size_t range_count = 0;
};

// One rule: the token is what `pattern` matches, provided that `ahead` matches right behind it.
// As in other lexers of this family the text seen by `ahead` counts for "longest".
struct RulePattern {
    std::string_view pattern;
    std::string_view ahead;
};

class Automaton {
  public:
    Automaton(const Definition* definitions, std::size_t definition_count, const RulePattern* rules,
              std::size_t rule_count);

    struct Match {
        int rule = -1;        // -1: no rule fits here
        std::size_t end = 0;  // where the match ends, `ahead` included
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
        friend class Automaton;
        std::unordered_set<std::uint64_t> pairs_;
        std::vector<std::uint64_t> trail_;
    };

    // The longest match at text[begin]; the lexer may look up to text[end - 1].
    Match longest(std::string_view text, std::size_t begin, std::size_t end, Misses& misses) const;

    // Where the token of a match ends and its `ahead` begins: as late as possible.
    std::size_t token_end(std::string_view text, std::size_t begin, const Match& match) const;

    std::size_t state_count() const { return accepts_.size(); }

  private:
    using State = std::uint16_t;
    static constexpr State kDead = 0;
    static constexpr State kStart = 1;
    static constexpr std::size_t kBasicPlane = 0x10000;

    // The state after the character at text[position], which is passed. The grammar works on
    // UTF-16: beyond the basic plane (four bytes here) each half of a character is one step.
    State step(State state, std::string_view text, std::size_t& position) const {
        const auto byte = static_cast<unsigned char>(text[position]);
        std::uint8_t symbol;
        if (byte < 0x80) {
            symbol = symbols_[byte];
            ++position;
        } else if (byte < 0xC0 || byte >= 0xF0) {  // at the second half, or the first
            symbol = symbols_[0xD800];
            position += 2;
        } else {
            symbol = symbols_[decode(text, position)];
        }
        return next_[state * symbol_count_ + symbol];
    }

    struct Parts {  // start states for the two halves of a rule with `ahead`
        State pattern = kDead, ahead = kDead;
    };

    std::vector<std::uint8_t> symbols_;  // character class of each code point
    std::size_t symbol_count_ = 0;
    std::vector<State> next_;            // next_[state * symbol_count_ + symbol]
    std::vector<std::int16_t> accepts_;  // rule, or -1
    std::vector<Parts> parts_;           // one for each rule
};

}  // namespace reelscore::ptb
