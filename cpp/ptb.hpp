// The Penn Treebank tokenizer of the COCO caption tools, without Java: what
// stanford-corenlp-3.4.1.jar (PTBTokenizer -preserveLines -lowerCase) answers and what
// pycocoevalcap keeps of it. Written from the jar's answers to test texts, not from its grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "strings.hpp"

namespace reelscore {

// The jar reads all captions as one file, one a line, and its look-ahead crosses line ends: "plan
// B." keeps its full stop or not according to the first word of the caption that follows.
//   separate  each caption on its own, as a file of one line (with its line feed): tokens never
//             depend on a neighbour
//   coco      as pycocoevalcap calls the jar: all captions in order, joined by line feeds. The
//             last has none behind it, which shows in a few cases: a final "they'll" is they ` ll
enum class PtbMode { separate, coco };

// Tokens joined by single blanks, in lower case. Unless keep_punctuation, the tokens that
// pycocoevalcap takes for punctuation are dropped; with it, the answer is the jar's line.
// CR, VT, FF, LF, U+2028 and U+2029 inside a caption are white space (the jar would start a new
// line there and thereby shift every later caption); a CR that ends a caption counts as part of
// the line end.
Strings ptb_tokenize(StringsView captions, PtbMode mode, bool keep_punctuation,
                     std::size_t threads);

// Captions may come again and again in files of the coco mode, and need not be tokenized each time.
// This tokenizes each by itself, without punctuation, and says of which the tokens are the same in
// any file, unless they are its last line: closed, 1 or 0 for each.
Strings ptb_tokenize_lines(StringsView captions, std::size_t threads, std::uint8_t* closed);

// The other lines of such a file: their numbers, and their tokens as the coco mode gives them.
struct OpenLines {
    std::vector<std::int64_t> numbers;
    Strings tokens;
};
OpenLines ptb_tokenize_open(StringsView captions, const std::uint8_t* closed, std::size_t threads);

}  // namespace reelscore
