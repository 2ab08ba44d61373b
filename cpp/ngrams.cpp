#include "ngrams.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"

namespace reelscore {
namespace {

constexpr std::size_t block_size = 64;  // captions a thread takes at a time
constexpr std::uint32_t root = PairIds::none - 1;  // the empty n-gram

// Calls visit(n, number) for every n-gram of orders 0..order-1 (n counts from 0), shorter n-grams
// first, in text order. step(prefix, word) gives the number of an n-gram or none; n-grams whose
// beginning has none are passed over. scratch holds the numbers of the current order.
template <typename Step, typename Visit>
void each_ngram(WordsView::Run words, std::size_t order, std::vector<std::uint32_t>& scratch,
                Step&& step, Visit&& visit) {
    scratch.assign(words.size, root);
    for (std::size_t n = 0; n < order && n < words.size; ++n) {
        for (std::size_t k = 0; k + n < words.size; ++k) {
            if (scratch[k] == PairIds::none) continue;
            scratch[k] = step(scratch[k], words[k + n]);
            if (scratch[k] != PairIds::none) visit(n, scratch[k]);
        }
    }
}

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

struct BleuScratch {
    PairIds ids;
    std::vector<std::uint32_t> numbers, orders, counts, here, highest;

    void clear() {
        ids.clear();
        orders.clear();
        counts.clear();
    }
};

void bleu_row(WordsView::Run candidate, WordsView references, std::size_t begin, std::size_t end,
              std::size_t order, BleuScratch& scratch, double* row) {
    auto& [ids, numbers, orders, counts, here, highest] = scratch;
    scratch.clear();
    each_ngram(
        candidate, order, numbers,
        [&ids = ids](std::uint32_t prefix, std::uint32_t word) { return ids.id(prefix, word); },
        [&counts = counts, &orders = orders](std::size_t n, std::uint32_t ngram) {
            if (ngram == counts.size()) {
                counts.push_back(0);
                orders.push_back(static_cast<std::uint32_t>(n));
            }
            ++counts[ngram];
        });
    highest.assign(counts.size(), 0);
    std::size_t reference_length = 0;
    for (std::size_t r = begin; r < end; ++r) {
        here.assign(counts.size(), 0);
        each_ngram(
            references[r], order, numbers,
            [&ids = ids](std::uint32_t prefix, std::uint32_t word) {
                return ids.find(prefix, word);
            },
            [&here = here](std::size_t, std::uint32_t ngram) { ++here[ngram]; });
        for (std::size_t k = 0; k < here.size(); ++k) highest[k] = std::max(highest[k], here[k]);
        const std::size_t length = references[r].size;
        reference_length =
            r == begin ? length : nearer(candidate.size, reference_length, length);
    }
    std::fill(row, row + order, 0.0);
    for (std::size_t k = 0; k < counts.size(); ++k) {
        row[orders[k]] += std::min(counts[k], highest[k]);
    }
    finish_bleu_row(candidate.size, order, reference_length, row);
}

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

// The n-grams of one item's candidate and references, each with its weight for a single
// occurrence; a vector of the paper is then counts times weights.
struct CiderScratch {
    PairIds ids;
    std::vector<std::uint32_t> numbers, orders, global, candidate, reference, touched;
    std::vector<double> weights;

    void clear() {
        ids.clear();
        orders.clear();
        global.clear();
        candidate.clear();
        reference.clear();
        weights.clear();
    }
};

class CiderItem {
  public:
    CiderItem(const DocumentFrequencies& frequencies, const CiderParameters& parameters,
              CiderScratch& scratch)
        : frequencies_(frequencies), parameters_(parameters), s_(scratch) {}

    void row(WordsView::Run candidate, WordsView references, std::size_t begin, std::size_t end,
             double* out) {
        const std::size_t order = frequencies_.order();
        std::fill(out, out + order, 0.0);
        s_.clear();
        count(candidate, s_.candidate);
        const std::size_t candidate_ngrams = s_.weights.size();
        std::vector<double>& norms = candidate_norms_;
        norms.assign(order, 0.0);
        for (std::size_t k = 0; k < candidate_ngrams; ++k) add_square(k, s_.candidate, norms);
        for (double& norm : norms) norm = std::sqrt(norm);

        for (std::size_t r = begin; r < end; ++r) {
            s_.touched.clear();
            count(references[r], s_.reference);
            similarity(candidate.size, references[r].size, candidate_ngrams, out);
            for (std::uint32_t k : s_.touched) s_.reference[k] = 0;
        }
        for (std::size_t n = 0; n < order; ++n) out[n] /= static_cast<double>(end - begin);
    }

  private:
    void count(WordsView::Run words, std::vector<std::uint32_t>& counts) {
        each_ngram(
            words, frequencies_.order(), s_.numbers,
            [this](std::uint32_t prefix, std::uint32_t word) {
                const std::uint32_t ngram = s_.ids.id(prefix, word);
                if (ngram == s_.global.size()) {
                    const std::uint32_t parent = prefix == root ? root : s_.global[prefix];
                    s_.global.push_back(frequencies_.next(parent, word));
                }
                return ngram;
            },
            [&](std::size_t n, std::uint32_t ngram) {
                if (ngram == s_.weights.size()) {
                    const double frequency = frequencies_.frequency(s_.global[ngram]);
                    s_.weights.push_back(parameters_.log_documents -
                                         std::log(std::max(1.0, frequency)));
                    s_.orders.push_back(static_cast<std::uint32_t>(n));
                    s_.candidate.push_back(0);
                    s_.reference.push_back(0);
                }
                if (counts[ngram]++ == 0) s_.touched.push_back(ngram);
            });
    }

    void add_square(std::size_t k, const std::vector<std::uint32_t>& counts,
                    std::vector<double>& norms) const {
        const double value = counts[k] * s_.weights[k];
        norms[s_.orders[k]] += value * value;
    }

    void similarity(std::size_t candidate_length, std::size_t reference_length,
                    std::size_t candidate_ngrams, double* out) {
        const std::size_t order = frequencies_.order();
        norms_.assign(order, 0.0);
        values_.assign(order, 0.0);
        for (std::uint32_t k : s_.touched) add_square(k, s_.reference, norms_);
        for (std::size_t k = 0; k < candidate_ngrams; ++k) {
            const double theirs = s_.reference[k] * s_.weights[k];
            const double ours = s_.candidate[k] * s_.weights[k];
            values_[s_.orders[k]] += (parameters_.clip ? std::min(ours, theirs) : ours) * theirs;
        }
        // The COCO tools measure length in bigrams: an empty caption and one word are as long.
        const auto bigrams = [](std::size_t words) { return words > 0 ? double(words) - 1 : 0.0; };
        const double difference = bigrams(candidate_length) - bigrams(reference_length);
        const double sigma = parameters_.sigma;
        const double penalty =
            sigma > 0 ? std::exp(-(difference * difference) / (2 * sigma * sigma)) : 1.0;
        for (std::size_t n = 0; n < order; ++n) {
            const double norm = candidate_norms_[n] * std::sqrt(norms_[n]);
            out[n] += (norm != 0 ? values_[n] / norm : values_[n]) * penalty;
        }
    }

    const DocumentFrequencies& frequencies_;
    const CiderParameters& parameters_;
    CiderScratch& s_;
    std::vector<double> candidate_norms_, norms_, values_;
};

}  // namespace

std::size_t PairIds::slot_of(std::uint64_t key) const {
    std::uint64_t hash = key * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    const std::size_t mask = keys_.size() - 1;
    std::size_t slot = hash & mask;
    while (ids_[slot] != none && keys_[slot] != key) slot = (slot + 1) & mask;
    return slot;
}

std::uint32_t PairIds::id(std::uint32_t first, std::uint32_t second) {
    if (2 * (size_ + 1) > keys_.size()) grow();
    const std::uint64_t key = (std::uint64_t(first) << 32) | second;
    const std::size_t slot = slot_of(key);
    if (ids_[slot] == none) {
        keys_[slot] = key;
        ids_[slot] = static_cast<std::uint32_t>(size_++);
    }
    return ids_[slot];
}

std::uint32_t PairIds::find(std::uint32_t first, std::uint32_t second) const {
    if (keys_.empty()) return none;
    return ids_[slot_of((std::uint64_t(first) << 32) | second)];
}

void PairIds::clear() {
    std::fill(ids_.begin(), ids_.end(), none);
    size_ = 0;
}

void PairIds::grow() {
    const std::vector<std::uint64_t> keys = std::move(keys_);
    const std::vector<std::uint32_t> ids = std::move(ids_);
    keys_.assign(keys.empty() ? 256 : 2 * keys.size(), 0);
    ids_.assign(keys_.size(), none);
    for (std::size_t k = 0; k < keys.size(); ++k) {
        if (ids[k] == none) continue;
        const std::size_t slot = slot_of(keys[k]);
        keys_[slot] = keys[k];
        ids_[slot] = ids[k];
    }
}

std::uint32_t DocumentFrequencies::add(std::uint32_t prefix, std::uint32_t word) {
    const std::uint32_t ngram = ids_.id(prefix, word);
    if (ngram == frequencies_.size()) {
        frequencies_.push_back(0);
        last_document_.push_back(0);
    }
    return ngram;
}

void DocumentFrequencies::count(WordsView references, const std::int64_t* reference_offsets,
                                std::size_t items) {
    std::vector<std::uint32_t> scratch;
    for (std::size_t item = 0; item < items; ++item) {
        ++documents_;
        for (auto r = reference_offsets[item]; r < reference_offsets[item + 1]; ++r) {
            each_ngram(
                references[std::size_t(r)], order_, scratch,
                [this](std::uint32_t prefix, std::uint32_t word) { return add(prefix, word); },
                [this](std::size_t, std::uint32_t ngram) {
                    if (last_document_[ngram] == documents_) return;
                    last_document_[ngram] = documents_;
                    ++frequencies_[ngram];
                });
        }
    }
}

void DocumentFrequencies::set(WordsView::Run ngram, double frequency) {
    std::uint32_t number = root();
    for (std::uint32_t word : ngram) number = add(number, word);
    if (ngram.size > 0) frequencies_[number] = static_cast<float>(frequency);
}

void bleu_statistics(WordsView candidates, WordsView references, Pairing pairing,
                     std::size_t order, std::size_t threads, double* out) {
    parallel_blocks(candidates.size, block_size, threads, [&](std::size_t begin, std::size_t end) {
        BleuScratch scratch;
        for (std::size_t k = begin; k < end; ++k) {
            bleu_row(candidates[k], references, pairing.begin(k), pairing.end(k), order, scratch,
                     out + k * (2 * order + 2));
        }
    });
}

void self_bleu_statistics(WordsView captions, const std::int64_t* group_offsets,
                          std::size_t groups, std::size_t order, std::size_t threads,
                          double* out) {
    parallel_blocks(groups, 1, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t g = begin; g < end; ++g) {
            self_bleu_group(captions, std::size_t(group_offsets[g]),
                            std::size_t(group_offsets[g + 1]), order, out);
        }
    });
}

void cider_statistics(WordsView candidates, WordsView references, Pairing pairing,
                      const DocumentFrequencies& frequencies, const CiderParameters& parameters,
                      std::size_t threads, double* out) {
    parallel_blocks(candidates.size, block_size, threads, [&](std::size_t begin, std::size_t end) {
        CiderScratch scratch;
        CiderItem item(frequencies, parameters, scratch);
        for (std::size_t k = begin; k < end; ++k) {
            item.row(candidates[k], references, pairing.begin(k), pairing.end(k),
                     out + k * frequencies.order());
        }
    });
}

}  // namespace reelscore
