// Timed captions: overlap of segments, and the best order-keeping one-to-one matching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reelscore {

// Many videos at once. Video v has rows candidate_offsets[v] .. candidate_offsets[v + 1] and
// columns reference_offsets[v] .. reference_offsets[v + 1]; its matrix, candidates x references,
// follows that of the video before it.
struct StoryPairs {
    const std::int64_t* candidate_offsets;
    const std::int64_t* reference_offsets;
    std::size_t videos;

    std::size_t rows(std::size_t v) const {
        return static_cast<std::size_t>(candidate_offsets[v + 1] - candidate_offsets[v]);
    }
    std::size_t columns(std::size_t v) const {
        return static_cast<std::size_t>(reference_offsets[v + 1] - reference_offsets[v]);
    }
    // Where each video's matrix begins, and the number of cells.
    std::vector<std::size_t> cell_offsets() const;
};

// Intersection over (union + epsilon) of every candidate with every reference of its video.
// Segments are start, end; those whose intersection is empty, or that end before they start, get 0.
void segment_iou(const double* candidates, const double* references, StoryPairs pairs,
                 double epsilon, std::size_t threads, double* out);

// Costs that differ by less than this are equal, so that the order of additions decides nothing.
constexpr double kEqualCosts = 1e-12;

// The sums of the best matching so far, over candidates seen and the first k references.
struct MatchSum {
    double cost = 0.0;
    double bonus = 0.0;
};

// Matches candidates and references one to one, both in order, so that the summed cost is the
// highest; among matchings of equal cost the summed bonus is. Only positive costs match.
// sums: for each video columns + 1 entries, which go on from what they hold: a story too long for
// one matrix can be given in pieces, some rows at a time. Memory does not grow with the rows.
void match_sums(const double* costs, const double* bonuses, StoryPairs pairs, std::size_t threads,
                MatchSum* sums);

// The matching itself, of one video: for each reference its candidate's row, or -1. It takes a
// byte for each cell.
std::vector<std::int64_t> match_rows(const double* costs, const double* bonuses, std::size_t rows,
                                     std::size_t columns);

}  // namespace reelscore
