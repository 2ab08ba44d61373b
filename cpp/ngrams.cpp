#include "ngrams.hpp"

#include <algorithm>

#include "caption_ngrams.hpp"
#include "parallel.hpp"

namespace reelscore {
namespace {

// Length of the reference nearest to a candidate's; the shorter of two as near.
std::size_t nearer(std::size_t length, std::size_t one, std::size_t other) {
    const auto distance = [&](std::size_t x) { return x > length ? x - length : length - x; };
    const std::size_t a = distance(one), b = distance(other);
    if (a != b) return a < b ? one : other;
    return std::min(one, other);
}

void finish_bleu_row(std::size_t length, std::size_t order, std::size_t reference_length,
                     double* row) {
    for (std::size_t n = 0; n < order; ++n) {
        row[order + n] = length > n ? static_cast<double>(length - n) : 0.0;
    }
    row[2 * order] = static_cast<double>(length);
    row[2 * order + 1] = static_cast<double>(reference_length);
}

// One row after the other; keeps its memory.
class BleuRows {
  public:
    explicit BleuRows(std::size_t order) : order_(order), ngrams_(order) {}

    void fill(WordsView::Run candidate, WordsView references, std::size_t begin, std::size_t end,
              double* row) {
        ngrams_.set(candidate);
        orders_.assign(ngrams_.size(), 0);
        counts_.assign(ngrams_.size(), 0);
        highest_.assign(ngrams_.size(), 0);
        ngrams_.each_in(candidate, [this](std::size_t n, std::uint32_t ngram) {
            orders_[ngram] = static_cast<std::uint32_t>(n);
            ++counts_[ngram];
        });
        std::size_t reference_length = 0;
        for (std::size_t r = begin; r < end; ++r) {
            here_.assign(ngrams_.size(), 0);
            ngrams_.each_in(references[r],
                            [this](std::size_t, std::uint32_t ngram) { ++here_[ngram]; });
            for (std::size_t k = 0; k < here_.size(); ++k) {
                highest_[k] = std::max(highest_[k], here_[k]);
            }
            const std::size_t length = references[r].size;
            reference_length =
                r == begin ? length : nearer(candidate.size, reference_length, length);
        }
        std::fill_n(row, order_, 0.0);
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            row[orders_[k]] += std::min(counts_[k], highest_[k]);
        }
        finish_bleu_row(candidate.size, order_, reference_length, row);
    }

  private:
    std::size_t order_;
    CaptionNgrams ngrams_;
    std::vector<std::uint32_t> orders_, counts_, here_, highest_;  // by n-gram
};

// For one n-gram of a group: the two highest counts in one caption, and whose the highest is.
struct TopCounts {
    std::uint32_t highest = 0, second = 0;
    std::size_t owner = 0;

    void add(std::uint32_t count, std::size_t caption) {
        if (count > highest) {
            second = highest;
            highest = count;
            owner = caption;
        } else {
            second = std::max(second, count);
        }
    }
    std::uint32_t among_others(std::size_t caption) const {
        return owner == caption ? second : highest;
    }
};

// Lengths of the captions of a group, sorted, to find the nearest length among the others.
std::size_t nearest_other_length(const std::vector<std::size_t>& sorted, std::size_t length) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), length);
    if (high - low > 1) return length;  // another caption has the very length
    if (low == sorted.begin()) return *high;
    if (high == sorted.end()) return *(low - 1);
    return nearer(length, *(low - 1), *high);
}

void self_bleu_group(WordsView captions, std::size_t begin, std::size_t end, std::size_t order,
                     double* out) {
    const std::size_t width = 2 * order + 2;
    std::fill(out + begin * width, out + end * width, 0.0);
    if (end - begin < 2) return;

    PairIds ids;
    std::vector<TopCounts> top;
    std::vector<std::uint32_t> numbers, counts, orders, touched;
    std::vector<std::size_t> lengths;
    const auto count_ngrams = [&](std::size_t caption) {
        touched.clear();
        each_ngram(
            captions[caption], order, numbers,
            [&](std::uint32_t prefix, std::uint32_t word) { return ids.id(prefix, word); },
            [&](std::size_t n, std::uint32_t ngram) {
                if (ngram == counts.size()) {
                    counts.push_back(0);
                    orders.push_back(static_cast<std::uint32_t>(n));
                    top.emplace_back();
                }
                if (counts[ngram]++ == 0) touched.push_back(ngram);
            });
    };
    for (std::size_t k = begin; k < end; ++k) {
        count_ngrams(k);
        for (std::uint32_t ngram : touched) {
            top[ngram].add(counts[ngram], k);
            counts[ngram] = 0;
        }
        lengths.push_back(captions[k].size);
    }
    std::sort(lengths.begin(), lengths.end());
    for (std::size_t k = begin; k < end; ++k) {
        double* row = out + k * width;
        count_ngrams(k);
        for (std::uint32_t ngram : touched) {
            row[orders[ngram]] += std::min(counts[ngram], top[ngram].among_others(k));
            counts[ngram] = 0;
        }
        const std::size_t length = captions[k].size;
        finish_bleu_row(length, order, nearest_other_length(lengths, length), row);
    }
}

}  // namespace

void PairIds::clear() {
    // What is cleared again and again should not stay as large as it once was.
    if (slots_.size() > 128 && 8 * size_ < slots_.size()) slots_.resize(slots_.size() / 2);
    for (Slot& slot : slots_) slot.id = none;
    size_ = 0;
}

void PairIds::reserve(std::size_t size) {
    std::size_t slots = 128;
    while (3 * size > 2 * slots) slots *= 2;
    if (slots > slots_.size()) resize(slots);
}

void PairIds::grow() {
    resize(slots_.empty() ? 128 : 2 * slots_.size());
}

void PairIds::resize(std::size_t slots) {
    Slots old(slots, Slot{0, 0, none});
    old.swap(slots_);
    for (const Slot& slot : old) {
        if (slot.id != none) slots_[slot_of(slot.first, slot.second)] = slot;
    }
}

void bleu_statistics(WordsView candidates, WordsView references, Pairing pairing, std::size_t order,
                     std::size_t threads, double* out) {
    parallel_blocks(candidates.size, kBlockSize, threads, [&](std::size_t begin, std::size_t end) {
        BleuRows rows(order);
        for (std::size_t k = begin; k < end; ++k) {
            rows.fill(candidates[k], references, pairing.begin(k), pairing.end(k),
                      out + k * (2 * order + 2));
        }
    });
}

void self_bleu_statistics(WordsView captions, const std::int64_t* group_offsets, std::size_t groups,
                          std::size_t order, std::size_t threads, double* out) {
    parallel_blocks(groups, 1, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t g = begin; g < end; ++g) {
            self_bleu_group(captions, std::size_t(group_offsets[g]),
                            std::size_t(group_offsets[g + 1]), order, out);
        }
    });
}

}  // namespace reelscore
