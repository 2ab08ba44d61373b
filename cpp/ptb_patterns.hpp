// A small pattern compiler: the rules of the PTB tokenizer are written as patterns and merged into
// the tables of one deterministic automaton, so that "the longest match wins, then the order of the
// rules" costs one table look-up a character, whatever the number of rules. It runs when the
// library is built (make_ptb_tables.cpp), never in it.
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
#include <string_view>
#include <vector>

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

struct Tables {
    struct Parts {  // start states for the two halves of a rule with `ahead`
        std::uint16_t pattern = 0, ahead = 0;
    };

    std::vector<std::uint8_t> symbols;  // character class of each code point of the basic plane
    std::size_t symbol_count = 0;
    std::vector<std::uint16_t> next;    // next[state * symbol_count + symbol]; 0 is the dead state
    std::vector<std::int16_t> accepts;  // for each state the rule it completes, or -1
    std::vector<Parts> parts;           // one for each rule
};

Tables compile(const Definition* definitions, std::size_t definition_count,
               const RulePattern* rules, std::size_t rule_count);

}  // namespace reelscore::ptb
