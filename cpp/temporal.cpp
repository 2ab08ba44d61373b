#include "temporal.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace reelscore {
namespace {

using std::int64_t;
using std::size_t;
using std::uint8_t;

constexpr size_t kVideosPerBlock = 16;

enum Step : uint8_t { kSkipCandidate, kSkipReference, kMatch };

bool is_better(const MatchSum& one, const MatchSum& other) {
    if (one.cost > other.cost + kEqualCosts) return true;
    return one.cost >= other.cost - kEqualCosts && one.bonus > other.bonus;
}

// One row of the recurrence S[i][j] = max(S[i-1][j], S[i-1][j-1] + C[i][j], S[i][j-1]); sums holds
// the row above and becomes this one. steps may be null.
void add_row(const double* costs, const double* bonuses, size_t columns, MatchSum* sums,
             uint8_t* steps) {
    MatchSum above_left = sums[0];
    for (size_t j = 0; j < columns; ++j) {
        const MatchSum above = sums[j + 1];
        MatchSum best = above;
        uint8_t step = kSkipCandidate;
        if (is_better(sums[j], best)) {
            best = sums[j];
            step = kSkipReference;
        }
        if (costs[j] > 0.0) {
            const MatchSum matched{above_left.cost + costs[j], above_left.bonus + bonuses[j]};
            if (!is_better(best, matched)) {  // of equal ones the later captions, as in the papers
                best = matched;
                step = kMatch;
            }
        }
        sums[j + 1] = best;
        above_left = above;
        if (steps != nullptr) steps[j] = step;
    }
}

double iou(const double* one, const double* other, double epsilon) {
    const double intersection = std::min(one[1], other[1]) - std::max(one[0], other[0]);
    if (!(intersection > 0.0)) return 0.0;
    // The two overlap, so that together they cover all from the first start to the last end. The
    // sum of lengths, which is never less but for rounding, is in the challenge's formula.
    const double hull = std::max(one[1], other[1]) - std::min(one[0], other[0]);
    const double lengths = other[1] - other[0] + one[1] - one[0];
    return intersection / ((epsilon > 0.0 ? std::min(hull, lengths) : hull) + epsilon);
}

}  // namespace

std::vector<size_t> StoryPairs::cell_offsets() const {
    std::vector<size_t> offsets{0};
    for (size_t v = 0; v < videos; ++v) offsets.push_back(offsets.back() + rows(v) * columns(v));
    return offsets;
}

void segment_iou(const double* candidates, const double* references, StoryPairs pairs,
                 double epsilon, size_t threads, double* out) {
    const std::vector<size_t> cells = pairs.cell_offsets();
    parallel_blocks(pairs.videos, kVideosPerBlock, threads, [&](size_t begin, size_t end) {
        for (size_t v = begin; v < end; ++v) {
            double* cell = out + cells[v];
            for (auto c = pairs.candidate_offsets[v]; c < pairs.candidate_offsets[v + 1]; ++c) {
                for (auto r = pairs.reference_offsets[v]; r < pairs.reference_offsets[v + 1]; ++r) {
                    *cell++ = iou(candidates + 2 * c, references + 2 * r, epsilon);
                }
            }
        }
    });
}

void match_sums(const double* costs, const double* bonuses, StoryPairs pairs, size_t threads,
                MatchSum* sums) {
    const std::vector<size_t> cells = pairs.cell_offsets();
    parallel_blocks(pairs.videos, kVideosPerBlock, threads, [&](size_t begin, size_t end) {
        for (size_t v = begin; v < end; ++v) {
            const size_t columns = pairs.columns(v);
            MatchSum* own = sums + pairs.reference_offsets[v] + static_cast<int64_t>(v);
            for (size_t row = 0; row < pairs.rows(v); ++row) {
                const size_t cell = cells[v] + row * columns;
                add_row(costs + cell, bonuses + cell, columns, own, nullptr);
            }
        }
    });
}

std::vector<int64_t> match_rows(const double* costs, const double* bonuses, size_t rows,
                                size_t columns) {
    std::vector<MatchSum> sums(columns + 1);
    std::vector<uint8_t> steps(rows * columns);
    for (size_t row = 0; row < rows; ++row) {
        const size_t cell = row * columns;
        add_row(costs + cell, bonuses + cell, columns, sums.data(), steps.data() + cell);
    }
    std::vector<int64_t> matched(columns, -1);
    for (size_t row = rows, column = columns; row > 0 && column > 0;) {
        switch (steps[(row - 1) * columns + column - 1]) {
            case kSkipCandidate:
                --row;
                break;
            case kSkipReference:
                --column;
                break;
            default:
                matched[--column] = static_cast<int64_t>(--row);
        }
    }
    return matched;
}

}  // namespace reelscore
