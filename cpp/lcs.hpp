// Longest common subsequence of words, for ROUGE-L.
#pragma once

#include "ngrams.hpp"

namespace reelscore {

// One row per candidate: its score, and 1. The score is the F-score of the highest precision and
// the highest recall of the longest common subsequence over the references (not necessarily of the
// same reference, as in the COCO tools); recall counts recall_weight times, the square of beta.
void rouge_l_statistics(WordsView candidates, WordsView references, Pairing pairing,
                        double recall_weight, std::size_t threads, double* out);

}  // namespace reelscore
