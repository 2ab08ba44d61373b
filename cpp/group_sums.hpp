// Sums of rows: of all of them, or of groups that are given by number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reelscore {

// Sums are made of long series in halves and of short ones in eight strands, so that rounding
// errors stay small. Numpy adds up in the same order.
constexpr std::size_t kStrands = 8, kShortSeries = 128;

// Where a long series is divided.
inline std::size_t middle_of_series(std::size_t begin, std::size_t end) {
    return begin + (end - begin) / 2 / kStrands * kStrands;
}

// The sum of value(begin), value(begin + 1) … value(end - 1).
template <typename Value>
double pairwise_sum(std::size_t begin, std::size_t end, const Value& value) {
    if (end - begin > kShortSeries) {
        const std::size_t middle = middle_of_series(begin, end);
        return pairwise_sum(begin, middle, value) + pairwise_sum(middle, end, value);
    }
    double sum = 0.0;
    std::size_t k = begin;
    if (end - begin >= kStrands) {
        std::array<double, kStrands> strands{};
        for (; k + kStrands <= end; k += kStrands) {
            for (std::size_t s = 0; s < kStrands; ++s) strands[s] += value(k + s);
        }
        const auto& [a, b, c, d, e, f, g, h] = strands;
        sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    }
    for (; k < end; ++k) sum += value(k);
    return sum;
}

// The sum of each column of the rows begin .. end, all columns in one pass over the rows.
inline void column_sums(const double* rows, std::size_t columns, std::size_t begin, std::size_t end,
                        double* out) {
    if (end - begin > kShortSeries) {
        const std::size_t middle = middle_of_series(begin, end);
        std::vector<double> second(columns);
        column_sums(rows, columns, begin, middle, out);
        column_sums(rows, columns, middle, end, second.data());
        for (std::size_t column = 0; column < columns; ++column) out[column] += second[column];
        return;
    }
    for (std::size_t column = 0; column < columns; ++column) {
        out[column] =
            pairwise_sum(begin, end, [&](std::size_t k) { return rows[k * columns + column]; });
    }
}

// Adds up the rows numbers[k] for k from group_offsets[g] up to group_offsets[g + 1]: groups x
// columns, zeros for a group without rows. The first of a group is added last.
inline void group_sums(const double* rows, std::size_t columns, const std::int64_t* numbers,
                       const std::int64_t* group_offsets, std::size_t groups, double* out) {
    for (std::size_t g = 0; g < groups; ++g, out += columns) {
        const auto begin = std::size_t(group_offsets[g]), end = std::size_t(group_offsets[g + 1]);
        for (std::size_t column = 0; begin < end && column < columns; ++column) {
            const auto value = [&](std::size_t k) {
                return rows[std::size_t(numbers[k]) * columns + column];
            };
            out[column] = value(begin) + pairwise_sum(begin + 1, end, value);
        }
    }
}

}  // namespace reelscore
