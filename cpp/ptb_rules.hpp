// The rules of the PTB tokenizer: patterns, and what becomes of the text they match.
#pragma once

#include <cstddef>
#include <string_view>

#include "ptb_patterns.hpp"

namespace reelscore::ptb {

// What a match turns into. "Brackets" means ( ) written as -LRB- -RRB-; "joined" means blanks
// written as U+00A0, so that the token stays one.
enum class Make {
    skip,         // nothing: white space, unknown characters
    same,         // the text as it stands
    word,         // without soft hyphens; "-" if nothing remains
    apostrophes,  // as word, and typographic apostrophes become '
    last_dot,     // the text; its final full stop is read a second time, as a token of its own
    fixed,        // the text given in the rule
    markup,       // blanks made U+00A0: <a href="x">
    brackets,     // brackets spelled out
    joined,       // brackets spelled out, blanks made U+00A0
    ampersand,    // &amp; decoded: AT&amp;T
    quotes,       // every quotation mark translated by shape: U+201C to ``, U+2019 to '
};

struct Rule {
    const char* name;
    std::string_view pattern;
    std::string_view ahead;  // must follow; not part of the token
    Make make;
    std::string_view text = {};  // for Make::fixed
};

extern const Definition kDefinitions[];
extern const std::size_t kDefinitionCount;
extern const Rule kRules[];
extern const std::size_t kRuleCount;

}  // namespace reelscore::ptb
