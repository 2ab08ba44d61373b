// Scores from sums of statistics: a row of sums in, a row of scores out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "group_sums.hpp"

namespace reelscore {

// Makes room for a last column of ones in rows x columns numbers, which have the memory for it:
// with it the sums know how many rows they are of.
inline void append_ones(double* values, std::size_t rows, std::size_t columns) {
    for (std::size_t k = rows; k-- > 0;) {
        double *row = values + k * (columns + 1), *last = row + columns;
        if (k > 0) std::copy_backward(values + k * columns, values + (k + 1) * columns, last);
        *last = 1.0;
    }
}

// BLEU of orders 1..order: the geometric mean of the precisions up to each order, times the brevity
// penalty. The tiny constants and the order of operations are those of the COCO tools.
inline void bleu_scores(const double* row, std::size_t order, double* out) {
    constexpr double kTiny = 1e-15, kSmall = 1e-9;
    const double ratio = (row[2 * order] + kTiny) / (row[2 * order + 1] + kSmall);
    const double penalty = ratio < 1.0 ? std::exp(1.0 - 1.0 / ratio) : 1.0;
    double product = 1.0;
    for (std::size_t k = 0; k < order; ++k) {
        product *= (row[k] + kTiny) / (row[order + k] + kSmall);
        out[k] = std::pow(product, 1.0 / static_cast<double>(k + 1)) * penalty;
    }
}

// The mean of all columns but the last, over the last, which counts the items; times the scale.
inline double mean_score(const double* row, std::size_t columns, double scale) {
    const auto value = [&](std::size_t k) { return row[k]; };
    const double mean = pairwise_sum(0, columns - 1, value) / static_cast<double>(columns - 1);
    return scale * mean / row[columns - 1];
}

}  // namespace reelscore
