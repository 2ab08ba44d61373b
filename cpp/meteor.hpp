// METEOR 1.5 for English as pycocoevalcap runs it ("-l en -norm"), bit for bit; and with stems of
// another language as the jar runs it for those it has no other data for ("-l da -lower").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meteor_align.hpp"
#include "meteor_texts.hpp"
#include "strings.hpp"

namespace reelscore {

// The statistics of a caption: candidate length, reference length, candidate function words,
// reference function words; for each module candidate content, reference content, candidate
// function, reference function matches; chunks, candidate matches, reference matches. And chunks as
// they enter a sum: none for a caption that is matched whole in one chunk.
constexpr std::size_t kMeteorStatistics = 24;

struct MeteorParameters {
    double alpha = 0.85, beta = 0.2, gamma = 0.6, delta = 0.75;
    std::array<double, kMeteorModules> weights{1.0, 0.6, 0.8, 0.6};
    std::array<bool, kMeteorModules> modules{true, true, true, true};
    std::size_t beam = 40;
    bool normalize = true;  // METEOR's own punctuation rules; lower-casing happens always
    const StemTable* stems = nullptr;  // of another language; must outlive the computation
};

// The scores of n rows of statistics, each of a caption or a sum of such.
void meteor_scores(const double* rows, std::size_t n, const MeteorParameters& parameters,
                   double* scores);

// For each of n candidates the statistics against the best of its references, which are
// references[reference_offsets[k] .. reference_offsets[k + 1]). Of equal scores the first counts;
// without references the row is zero. out: n x 24, row-major.
void meteor_statistics(MeteorMemory& memory, StringsView candidates, StringsView references,
                       const std::int64_t* reference_offsets, std::size_t n,
                       const MeteorParameters& parameters, std::size_t threads, double* out);

// Any pairs of a candidate and a reference, given by number. statistics: n x 24 or nullptr;
// scores: n or nullptr. Fastest when pairs with the same candidate follow each other.
void meteor_pairs(MeteorMemory& memory, StringsView candidates, StringsView references,
                  const std::int64_t* candidate_ids, const std::int64_t* reference_ids,
                  std::size_t n, const MeteorParameters& parameters, std::size_t threads,
                  double* statistics, double* scores);

// For each of n items the candidate that scores highest against the best of the item's references,
// references[reference_offsets[k] .. reference_offsets[k + 1]); of equal scores the first. Exactly
// what scoring all pairs gives, but pairs that an upper bound excludes are not aligned. best: n;
// scores: n; aligned: n, how many pairs were. There must be a candidate.
void meteor_best(const MeteorIndex& index, StringsView candidates, StringsView references,
                 const std::int64_t* reference_offsets, std::size_t n,
                 const MeteorParameters& parameters, std::size_t threads, std::int64_t* best,
                 double* scores, std::int64_t* aligned);

// One pair in full, for drawing.
struct MeteorAlignment {
    std::vector<std::string> candidate_words, reference_words;
    std::vector<MeteorMatch> matches;  // by position in the reference
    std::array<double, kMeteorStatistics> statistics{};
    double score = 0;
};
MeteorAlignment meteor_alignment(const MeteorIndex& index, std::string_view candidate,
                                 std::string_view reference, const MeteorParameters& parameters);

}  // namespace reelscore
