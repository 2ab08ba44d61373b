#include "ngrams.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"

namespace reelscore {
namespace {

constexpr std::size_t block_size = 64;             // captions a thread takes at a time
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

std::size_t ngram_count(std::size_t length, std::size_t order) {
    std::size_t count = 0;
    for (std::size_t n = 0; n < order && n < length; ++n) count += length - n;
    return count;
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
        reference_length = r == begin ? length : nearer(candidate.size, reference_length, length);
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

double tf_idf_weight(double frequency, double log_documents) {
    return log_documents - std::log(std::max(1.0, frequency));
}

// The tf-idf vector of a caption: its distinct n-grams in text order, each with how often it
// stands there and what one occurrence weighs.
class TfIdf {
  public:
    TfIdf(const DocumentFrequencies& frequencies, double log_documents)
        : frequencies_(frequencies), log_documents_(log_documents) {}

    void set(WordsView::Run words) {
        ids_.clear();
        entries_.clear();
        each_ngram(
            words, frequencies_.order(), numbers_,
            [this](std::uint32_t prefix, std::uint32_t word) {
                const std::uint32_t ngram = ids_.id(prefix, word);
                if (ngram == entries_.size()) {
                    const std::uint32_t parent = prefix == root ? root : entries_[prefix].number;
                    entries_.push_back({frequencies_.next(parent, word), 0, 0, 0.0});
                }
                return ngram;
            },
            [this](std::size_t n, std::uint32_t ngram) {
                Entry& entry = entries_[ngram];
                if (entry.count++ > 0) return;
                entry.order = static_cast<std::uint32_t>(n);
                const double frequency = frequencies_.frequency(entry.number);
                entry.weight = tf_idf_weight(frequency, log_documents_);
            });
    }

    void norms(double* out) const {
        std::fill_n(out, frequencies_.order(), 0.0);
        for (const Entry& entry : entries_) {
            const double value = entry.count * entry.weight;
            out[entry.order] += value * value;
        }
        for (std::size_t n = 0; n < frequencies_.order(); ++n) out[n] = std::sqrt(out[n]);
    }

    // Adds, for each order, the product with another caption's vector.
    void multiply(WordsView::Run other, bool clip, double* out) {
        counts_.assign(entries_.size(), 0);
        each_ngram(
            other, frequencies_.order(), numbers_,
            [this](std::uint32_t prefix, std::uint32_t word) { return ids_.find(prefix, word); },
            [this](std::size_t, std::uint32_t ngram) { ++counts_[ngram]; });
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            if (counts_[k] == 0) continue;
            const Entry& entry = entries_[k];
            const double ours = entry.count * entry.weight;
            const double theirs = counts_[k] * entry.weight;
            out[entry.order] += (clip ? std::min(ours, theirs) : ours) * theirs;
        }
    }

  private:
    struct Entry {
        std::uint32_t number;  // among the document frequencies
        std::uint32_t order, count;
        double weight;
    };

    const DocumentFrequencies& frequencies_;
    double log_documents_;
    PairIds ids_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> numbers_, counts_;
};

// The COCO tools measure length in bigrams: an empty caption and one word are as long.
double length_penalty(std::size_t length, std::size_t reference_length, double sigma) {
    if (sigma <= 0) return 1.0;
    const auto bigrams = [](std::size_t words) { return words > 0 ? double(words) - 1 : 0.0; };
    const double difference = bigrams(length) - bigrams(reference_length);
    return std::exp(-(difference * difference) / (2 * sigma * sigma));
}

}  // namespace

std::size_t PairIds::slot_of(std::uint32_t first, std::uint32_t second) const {
    std::uint64_t hash = ((std::uint64_t(first) << 32) | second) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    const std::size_t mask = slots_.size() - 1;
    std::size_t k = hash & mask;
    while (slots_[k].id != none && (slots_[k].first != first || slots_[k].second != second)) {
        k = (k + 1) & mask;
    }
    return k;
}

std::uint32_t PairIds::id(std::uint32_t first, std::uint32_t second) {
    if (3 * (size_ + 1) > 2 * slots_.size()) grow();
    Slot& slot = slots_[slot_of(first, second)];
    if (slot.id == none) slot = {first, second, static_cast<std::uint32_t>(size_++)};
    return slot.id;
}

std::uint32_t PairIds::find(std::uint32_t first, std::uint32_t second) const {
    return slots_.empty() ? none : slots_[slot_of(first, second)].id;
}

void PairIds::clear() {
    for (Slot& slot : slots_) slot.id = none;
    size_ = 0;
}

void PairIds::grow() {
    std::vector<Slot> old(slots_.empty() ? 128 : 2 * slots_.size(), Slot{0, 0, none});
    old.swap(slots_);
    for (const Slot& slot : old) {
        if (slot.id != none) slots_[slot_of(slot.first, slot.second)] = slot;
    }
}

std::uint32_t DocumentFrequencies::add(std::uint32_t prefix, std::uint32_t word) {
    const std::uint32_t ngram = ids_.id(prefix, word);
    if (ngram == frequencies_.size()) frequencies_.push_back(0);
    return ngram;
}

std::vector<std::uint32_t> DocumentFrequencies::number(WordsView captions) {
    std::vector<std::uint32_t> numbers, scratch;
    for (std::size_t k = 0; k < captions.size; ++k) {
        each_ngram(
            captions[k], order_, scratch,
            [this](std::uint32_t prefix, std::uint32_t word) { return add(prefix, word); },
            [&](std::size_t, std::uint32_t ngram) { numbers.push_back(ngram); });
    }
    return numbers;
}

void DocumentFrequencies::count(const std::uint32_t* numbers, WordsView references,
                                const std::int64_t* reference_offsets, std::size_t items) {
    std::vector<std::uint32_t> last_document(size(), 0);
    for (std::size_t item = 0; item < items; ++item) {
        const auto document = static_cast<std::uint32_t>(item + 1);
        for (auto r = reference_offsets[item]; r < reference_offsets[item + 1]; ++r) {
            const std::size_t ngrams = ngram_count(references[std::size_t(r)].size, order_);
            for (const std::uint32_t* end = numbers + ngrams; numbers != end; ++numbers) {
                if (last_document[*numbers] == document) continue;
                last_document[*numbers] = document;
                ++frequencies_[*numbers];
            }
        }
    }
}

void DocumentFrequencies::set(WordsView::Run ngram, double frequency) {
    std::uint32_t number = root();
    for (std::uint32_t word : ngram) number = add(number, word);
    if (ngram.size > 0) frequencies_[number] = static_cast<float>(frequency);
}

void bleu_statistics(WordsView candidates, WordsView references, Pairing pairing, std::size_t order,
                     std::size_t threads, double* out) {
    parallel_blocks(candidates.size, block_size, threads, [&](std::size_t begin, std::size_t end) {
        BleuScratch scratch;
        for (std::size_t k = begin; k < end; ++k) {
            bleu_row(candidates[k], references, pairing.begin(k), pairing.end(k), order, scratch,
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

void cider_norms(const std::uint32_t* numbers, WordsView captions,
                 const DocumentFrequencies& frequencies, double log_documents, double* out) {
    const std::size_t order = frequencies.order();
    std::vector<double> weights(frequencies.size());
    for (std::size_t k = 0; k < weights.size(); ++k) {
        weights[k] = tf_idf_weight(frequencies.frequency(std::uint32_t(k)), log_documents);
    }
    std::vector<std::uint32_t> counts(frequencies.size(), 0), distinct;
    for (std::size_t k = 0; k < captions.size; ++k) {
        const std::size_t length = captions[k].size;
        for (std::size_t n = 0; n < order; ++n) {
            distinct.clear();
            for (std::size_t i = n; i < length; ++i) {
                if (counts[*numbers]++ == 0) distinct.push_back(*numbers);
                ++numbers;
            }
            double sum = 0.0;
            for (std::uint32_t ngram : distinct) {
                const double value = counts[ngram] * weights[ngram];
                sum += value * value;
                counts[ngram] = 0;
            }
            out[k * order + n] = std::sqrt(sum);
        }
    }
}

void cider_statistics(WordsView candidates, WordsView references, const double* reference_norms,
                      Pairing pairing, const DocumentFrequencies& frequencies,
                      const CiderParameters& parameters, std::size_t threads, double* out) {
    const std::size_t order = frequencies.order();
    parallel_blocks(candidates.size, block_size, threads, [&](std::size_t begin, std::size_t end) {
        TfIdf vector(frequencies, parameters.log_documents);
        std::vector<double> norms(order), products(order);
        for (std::size_t k = begin; k < end; ++k) {
            vector.set(candidates[k]);
            vector.norms(norms.data());
            double* row = out + k * order;
            std::fill_n(row, order, 0.0);
            const std::size_t first = pairing.begin(k), last = pairing.end(k);
            for (std::size_t r = first; r < last; ++r) {
                std::fill(products.begin(), products.end(), 0.0);
                vector.multiply(references[r], parameters.clip, products.data());
                const double penalty =
                    length_penalty(candidates[k].size, references[r].size, parameters.sigma);
                for (std::size_t n = 0; n < order; ++n) {
                    const double norm = norms[n] * reference_norms[r * order + n];
                    row[n] += (norm != 0 ? products[n] / norm : products[n]) * penalty;
                }
            }
            for (std::size_t n = 0; n < order; ++n) row[n] /= static_cast<double>(last - first);
        }
    });
}

}  // namespace reelscore
