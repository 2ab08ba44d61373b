// Longest common subsequence of words, for ROUGE-L.
#pragma once

#include "ngrams.hpp"

namespace reelscore {

// One row per candidate: the highest precision and the highest recall of the longest common
// subsequence over the references (not necessarily of the same reference, as in the COCO tools).
void rouge_l_statistics(WordsView candidates, WordsView references, Pairing pairing,
                        std::size_t threads, double* out);

}  // namespace reelscore
