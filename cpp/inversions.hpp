// Pairs in the wrong order, for Kendall's coefficients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reelscore {

// How many pairs of values have the larger one first. Merge sort: n log n steps.
inline std::uint64_t count_inversions(std::vector<std::int64_t> values) {
    std::uint64_t inversions = 0;
    std::vector<std::int64_t> merged(values.size());
    for (std::size_t width = 1; width < values.size(); width *= 2) {
        for (std::size_t begin = 0; begin < values.size(); begin += 2 * width) {
            const std::size_t middle =
                begin + width < values.size() ? begin + width : values.size();
            const std::size_t end = middle + width < values.size() ? middle + width : values.size();
            std::size_t left = begin, right = middle;
            for (std::size_t k = begin; k < end; ++k) {
                if (left < middle && (right == end || values[left] <= values[right])) {
                    merged[k] = values[left++];
                } else {
                    inversions += middle - left;
                    merged[k] = values[right++];
                }
            }
        }
        values.swap(merged);
    }
    return inversions;
}

}  // namespace reelscore
