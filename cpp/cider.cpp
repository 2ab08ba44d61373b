#include "cider.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "caption_ngrams.hpp"
#include "parallel.hpp"

namespace reelscore {
namespace {

constexpr std::size_t kMostAtOnce = 150000;  // n-grams to make room for before there are any

// Logarithms of the small whole numbers that most frequencies are.
const std::array<double, 2048>& small_logarithms() {
    static const auto table = [] {
        std::array<double, 2048> logarithms{};
        for (std::size_t k = 1; k < logarithms.size(); ++k) logarithms[k] = std::log(double(k));
        return logarithms;
    }();
    return table;
}

// What an occurrence of an n-gram weighs that stands in so many documents; none weigh as one.
double tf_idf_weight(std::uint32_t documents, double log_documents) {
    const auto& table = small_logarithms();
    return log_documents - (documents < table.size() ? table[documents] : std::log(documents));
}

// The same of a frequency that may come from a file, and need not be whole.
double tf_idf_weight(double frequency, double log_documents) {
    if (frequency < double(small_logarithms().size())) {
        const auto whole = static_cast<std::uint32_t>(frequency);
        if (double(whole) == frequency) return tf_idf_weight(whole, log_documents);
    }
    return log_documents - std::log(std::max(1.0, frequency));
}

// What an n-gram adds to the product of two vectors.
double product(double ours, double theirs, bool clip) {
    return (clip ? std::min(ours, theirs) : ours) * theirs;
}

// The tf-idf vector of a caption: its distinct n-grams in text order, each with how often it
// stands there and what one occurrence weighs.
class TfIdf {
  public:
    TfIdf(const DocumentFrequencies& frequencies, double log_documents)
        : frequencies_(frequencies), log_documents_(log_documents), ngrams_(frequencies.order()) {}

    void set(WordsView::Run words) {
        ngrams_.set(words);
        entries_.assign(ngrams_.size(), Entry{0, 0, 0.0});
        numbers_.assign(words.size, PairIds::root);
        std::size_t current = 0, place = 0;  // all n-grams of an order come, one after the other
        ngrams_.each_in(words, [&](std::size_t n, std::uint32_t ngram) {
            place = n == current ? place : 0;
            current = n;
            std::uint32_t& number = numbers_[place];
            number = frequencies_.next(number, words[place++ + n]);
            Entry& entry = entries_[ngram];
            if (entry.count++ > 0) return;
            entry.order = static_cast<std::uint32_t>(n);
            entry.weight = tf_idf_weight(frequencies_.frequency(number), log_documents_);
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
        ngrams_.each_in(other, [this](std::size_t, std::uint32_t ngram) { ++counts_[ngram]; });
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            if (counts_[k] == 0) continue;
            const Entry& entry = entries_[k];
            out[entry.order] +=
                product(entry.count * entry.weight, counts_[k] * entry.weight, clip);
        }
    }

  private:
    struct Entry {
        std::uint32_t order, count;
        double weight;
    };

    const DocumentFrequencies& frequencies_;
    double log_documents_;
    CaptionNgrams ngrams_;
    std::vector<Entry> entries_;          // by n-gram
    std::vector<std::uint32_t> numbers_;  // among the document frequencies, by first word
    std::vector<std::uint32_t> counts_;
};

// The COCO tools measure length in bigrams: an empty caption and one word are as long.
double length_penalty(std::size_t length, std::size_t reference_length, double sigma) {
    if (sigma <= 0) return 1.0;
    const auto bigrams = [](std::size_t words) { return words > 0 ? double(words) - 1 : 0.0; };
    const double difference = bigrams(length) - bigrams(reference_length);
    return std::exp(-(difference * difference) / (2 * sigma * sigma));
}

// Adds to a row, for each order, the cosine of two vectors, made smaller by a penalty.
void add_cosines(const std::vector<double>& products, const double* ours, const double* theirs,
                 double penalty, double* row) {
    for (std::size_t n = 0; n < products.size(); ++n) {
        const double norm = ours[n] * theirs[n];
        row[n] += (norm != 0 ? products[n] / norm : products[n]) * penalty;
    }
}

// A candidate, compared with one reference after the other.
class Candidate {
  public:
    Candidate(const DocumentFrequencies& frequencies, const CiderParameters& parameters)
        : vector_(frequencies, parameters.log_documents),
          parameters_(parameters),
          norms_(frequencies.order()),
          products_(frequencies.order()) {}

    void set(WordsView::Run words) {
        length_ = words.size;
        vector_.set(words);
        vector_.norms(norms_.data());
    }

    // Adds the similarity to a reference for each order.
    void add_similarity(WordsView::Run reference, const double* reference_norms, double* row) {
        std::fill(products_.begin(), products_.end(), 0.0);
        vector_.multiply(reference, parameters_.clip, products_.data());
        const double penalty = length_penalty(length_, reference.size, parameters_.sigma);
        add_cosines(products_, norms_.data(), reference_norms, penalty, row);
    }

  private:
    TfIdf vector_;
    const CiderParameters& parameters_;
    std::size_t length_ = 0;
    std::vector<double> norms_, products_;
};

// The n-grams of texts that are looked at again and again: each text is taken apart once, until
// there are so many n-grams that they no longer lie close at hand.
class NgramLists {
  public:
    struct Entry {
        std::uint32_t ngram, order;
        double count;
    };
    struct List {
        std::uint32_t text;      // the place among the texts that are known
        std::size_t begin, end;  // of its entries: distinct n-grams, shorter first, in text order
        std::size_t length;      // in words
    };

    NgramLists(WordsView texts, std::size_t order) : texts_(texts), order_(order) {}

    const List& of(std::int64_t text) {
        const std::uint32_t place = known_.id(PairIds::root, static_cast<std::uint32_t>(text));
        if (place == lists_.size()) add(texts_[std::size_t(text)]);
        return lists_[place];
    }
    const Entry& operator[](std::size_t entry) const { return entries_[entry]; }
    std::size_t ngrams() const { return ids_.size(); }
    std::size_t texts() const { return lists_.size(); }

    void make_room() {
        if (ids_.size() < kMostKnown) return;
        known_.clear();
        ids_.clear();
        lists_.clear();
        entries_.clear();
    }

  private:
    static constexpr std::size_t kMostKnown = 4000;  // those of some 80 captions

    void add(WordsView::Run words) {
        const std::size_t begin = entries_.size();
        places_.resize(std::max(places_.size(), ids_.size() + words.size * order_));
        each_ngram(
            words, order_, scratch_,
            [this](std::uint32_t prefix, std::uint32_t word) { return ids_.id(prefix, word); },
            [this](std::size_t n, std::uint32_t ngram) {
                const std::uint32_t place = places_[ngram];
                if (place > 0) {
                    entries_[place - 1].count += 1.0;
                } else {
                    entries_.push_back({ngram, static_cast<std::uint32_t>(n), 1.0});
                    places_[ngram] = static_cast<std::uint32_t>(entries_.size());
                }
            });
        for (std::size_t k = begin; k < entries_.size(); ++k) places_[entries_[k].ngram] = 0;
        lists_.push_back(
            {static_cast<std::uint32_t>(lists_.size()), begin, entries_.size(), words.size});
    }

    WordsView texts_;
    std::size_t order_;
    PairIds known_, ids_;  // texts; n-grams
    std::vector<List> lists_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> places_, scratch_;  // places: by n-gram, of its entry plus one
};

// Pairs of texts whose references are the documents: the sum of their similarities.
class PairGroup {
  public:
    PairGroup(WordsView texts, std::size_t order, const CiderParameters& parameters)
        : lists_(texts, order), order_(order), parameters_(parameters), products_(order) {}

    // Sets a row to the sums for each order.
    void sum(const std::int64_t* candidates, const std::int64_t* references, std::size_t pairs,
             double* row) {
        lists_.make_room();
        pairs_.clear();
        for (std::size_t k = 0; k < pairs; ++k) {
            const NgramLists::List ours = lists_.of(candidates[k]);
            pairs_.push_back({ours, lists_.of(references[k])});
        }
        log_documents_ = std::log(std::max(1.0, static_cast<double>(pairs)));
        documents_.resize(lists_.ngrams());
        counts_.resize(lists_.ngrams());
        norms_.resize(lists_.texts() * order_);
        for (const auto& [ours, theirs] : pairs_) {
            norms_[ours.text * order_] = norms_[theirs.text * order_] = kUnknown;
            each(theirs, [this](const auto& entry) { ++documents_[entry.ngram]; });
        }
        std::fill_n(row, order_, 0.0);
        for (const Pair& pair : pairs_) add_similarity(pair, row);
        for (const Pair& pair : pairs_) {
            each(pair.theirs, [this](const auto& entry) { documents_[entry.ngram] = 0; });
        }
    }

  private:
    struct Pair {
        NgramLists::List ours, theirs;
    };
    static constexpr double kUnknown = -1.0;

    template <typename Visit>
    void each(const NgramLists::List& list, Visit&& visit) const {
        for (std::size_t k = list.begin; k < list.end; ++k) visit(lists_[k]);
    }

    double weight(std::uint32_t ngram) const {
        return tf_idf_weight(documents_[ngram], log_documents_);
    }

    const double* norms(const NgramLists::List& list) {
        double* norms = &norms_[list.text * order_];
        if (norms[0] != kUnknown) return norms;
        std::fill_n(norms, order_, 0.0);
        each(list, [this, norms](const auto& entry) {
            const double value = entry.count * weight(entry.ngram);
            norms[entry.order] += value * value;
        });
        for (std::size_t n = 0; n < order_; ++n) norms[n] = std::sqrt(norms[n]);
        return norms;
    }

    void add_similarity(const Pair& pair, double* row) {
        const auto& [ours, theirs] = pair;
        each(theirs, [this](const auto& entry) { counts_[entry.ngram] = entry.count; });
        std::fill(products_.begin(), products_.end(), 0.0);
        each(ours, [this](const auto& entry) {
            const double count = counts_[entry.ngram];
            if (count == 0.0) return;
            const double one = weight(entry.ngram);
            products_[entry.order] += product(entry.count * one, count * one, parameters_.clip);
        });
        each(theirs, [this](const auto& entry) { counts_[entry.ngram] = 0.0; });
        add_cosines(products_, norms(ours), norms(theirs),
                    length_penalty(ours.length, theirs.length, parameters_.sigma), row);
    }

    NgramLists lists_;
    std::size_t order_;
    const CiderParameters& parameters_;
    double log_documents_ = 0.0;
    std::vector<Pair> pairs_;
    std::vector<std::uint32_t> documents_;  // by n-gram; 0 between two groups
    std::vector<double> counts_;            // by n-gram, of one reference; 0 between two pairs
    std::vector<double> norms_, products_;
};

}  // namespace

// Calls visit(caption, number) for all n-grams, caption by caption. The table is larger than the
// processor's caches: all places of one order are asked for before the first of them is looked at.
template <typename Visit>
void DocumentFrequencies::number(WordsView captions, Visit&& visit) {
    std::vector<std::uint32_t> ngrams;
    for (std::size_t k = 0; k < captions.size; ++k) {
        const WordsView::Run words = captions[k];
        ngrams.assign(words.size, PairIds::root);
        for (std::size_t n = 0; n < order_ && n < words.size; ++n) {
            const std::size_t count = words.size - n;
            for (std::size_t i = 0; i < count; ++i) ids_.expect(ngrams[i], words[i + n]);
            for (std::size_t i = 0; i < count; ++i) {
                ngrams[i] = ids_.id(ngrams[i], words[i + n]);
                visit(k, ngrams[i]);
            }
        }
    }
}

void DocumentFrequencies::add(WordsView captions) {
    number(captions, [](std::size_t, std::uint32_t) {});
    frequencies_.resize(size());
}

void DocumentFrequencies::count(WordsView references, const std::int64_t* reference_offsets,
                                std::size_t items) {
    std::vector<std::uint32_t> last_documents(size(), 0);
    std::uint32_t document = 0;  // from 1 on
    number(references, [&](std::size_t reference, std::uint32_t ngram) {
        while (document < items && std::size_t(reference_offsets[document]) <= reference)
            ++document;
        if (ngram >= last_documents.size()) {
            last_documents.push_back(0);
            frequencies_.push_back(0.0);
        }
        if (last_documents[ngram] == document) return;
        last_documents[ngram] = document;
        ++frequencies_[ngram];
    });
}

// An n-gram stands there once if all of it but its last word does, or all but its first: most long
// n-grams need not be looked up. So one order comes after the other, each for all references.
void DocumentFrequencies::count_repeated(WordsView references,
                                         const std::int64_t* reference_offsets, std::size_t items,
                                         double log_documents, double* norms) {
    struct Ngram {
        std::uint32_t documents;
        // The latest document while they are counted; then how often it stands in a reference.
        std::uint32_t note;
    };
    const auto first_word = references.offsets[0];
    const std::uint32_t* const words = references.ids + first_word;
    const auto total = std::size_t(references.offsets[references.size] - first_word);
    std::vector<std::uint32_t> numbers(total, PairIds::root);  // of n-grams, by their first word
    std::vector<Ngram> known;                                  // by number
    // Whether an n-gram comes more than once: by its number plus two, where the empty one, which
    // does, and none are the first.
    std::vector<std::uint8_t> repeated{1, 0};
    static_assert(PairIds::root + 2 == 0 && PairIds::none + 2 == 1, "numbers wrap around");
    std::vector<std::size_t> asked;  // by their first word, of one item
    ids_.reserve(std::min(total, kMostAtOnce));
    known.reserve(std::min(total, kMostAtOnce));
    repeated.reserve(std::min(total, kMostAtOnce) + 2);
    for (std::size_t n = 0; n < order_; ++n) {
        const std::size_t shorter = known.size();
        for (std::size_t item = 0; item < items; ++item) {
            // Without branches: which n-grams come again is a matter of chance.
            asked.resize(std::size_t(references.offsets[reference_offsets[item + 1]] -
                                     references.offsets[reference_offsets[item]]));
            std::size_t count = 0;
            for (auto r = reference_offsets[item]; r < reference_offsets[item + 1]; ++r) {
                const auto end = std::size_t(references.offsets[r + 1] - first_word);
                for (auto k = std::size_t(references.offsets[r] - first_word); k + n < end; ++k) {
                    const std::uint32_t first = numbers[k], second = numbers[k + (n > 0)];
                    const bool may_repeat = repeated[first + 2] & repeated[second + 2];
                    numbers[k] = may_repeat ? first : PairIds::none;
                    asked[count] = k;
                    count += may_repeat;
                }
            }
            asked.resize(count);
            for (std::size_t place : asked) ids_.expect(numbers[place], words[place + n]);
            for (std::size_t place : asked) {
                numbers[place] = ids_.id(numbers[place], words[place + n]);
                if (numbers[place] == known.size()) {
                    known.push_back({0, 0});
                    repeated.push_back(0);
                }
                prefetch(&known[numbers[place]]);
            }
            const auto document = static_cast<std::uint32_t>(item + 1);
            for (std::size_t place : asked) {
                Ngram& ngram = known[numbers[place]];
                repeated[numbers[place] + 2] = ngram.documents > 0;
                ngram.documents += ngram.note != document;
                ngram.note = document;
            }
        }
        for (std::size_t k = shorter; k < known.size(); ++k) known[k].note = 0;
        const std::uint32_t* ngrams = numbers.data();
        for (std::size_t r = 0; r < references.size; ++r) {
            const std::size_t size = references[r].size, count = size > n ? size - n : 0;
            for (std::size_t i = 0; i < count; ++i) {
                if (ngrams[i] != PairIds::none) ++known[ngrams[i]].note;
            }
            double sum = 0.0;
            for (std::size_t i = 0; i < count; ++i) {
                double value = tf_idf_weight(std::uint32_t{0}, log_documents);
                if (ngrams[i] != PairIds::none) {
                    Ngram& ngram = known[ngrams[i]];
                    if (ngram.note == 0) continue;  // it stands before this place
                    value = ngram.note * tf_idf_weight(ngram.documents, log_documents);
                    ngram.note = 0;
                }
                sum += value * value;
            }
            norms[r * order_ + n] = std::sqrt(sum);
            ngrams += size;
        }
    }
    frequencies_.resize(size());
    for (std::size_t k = 0; k < known.size(); ++k) frequencies_[k] = known[k].documents;
}

void DocumentFrequencies::set(WordsView::Run ngram, double frequency) {
    std::uint32_t number = PairIds::root;
    for (std::uint32_t word : ngram) number = ids_.id(number, word);
    frequencies_.resize(size());
    if (ngram.size > 0) frequencies_[number] = frequency;
}

DocumentFrequencies::Entries DocumentFrequencies::entries() const {
    auto [prefixes, words] = ids_.pairs<std::uint32_t>();
    return {std::move(prefixes), std::move(words), frequencies_};
}

void DocumentFrequencies::add(const std::uint32_t* prefixes, const std::uint32_t* words,
                              const double* frequencies, std::size_t size) {
    std::vector<std::uint32_t> here(size);  // a prefix has a smaller number than what it begins
    for (std::size_t k = 0; k < size; ++k) {
        const std::uint32_t prefix = prefixes[k] == PairIds::root ? prefixes[k] : here[prefixes[k]];
        here[k] = ids_.id(prefix, words[k]);
    }
    frequencies_.resize(this->size());
    for (std::size_t k = 0; k < size; ++k) frequencies_[here[k]] += frequencies[k];
}

void cider_norms(WordsView captions, const DocumentFrequencies& frequencies, double log_documents,
                 std::size_t threads, double* out) {
    const std::size_t order = frequencies.order();
    parallel_blocks(captions.size, kBlockSize, threads, [&](std::size_t begin, std::size_t end) {
        struct Count {
            std::uint32_t ngram;
            double count;
        };
        std::vector<Count> distinct;  // of one order: few enough to look through
        std::vector<std::uint32_t> scratch;
        for (std::size_t k = begin; k < end; ++k) {
            double* norms = out + k * order;
            std::size_t current = 0;
            const auto finish = [&] {
                double sum = 0.0;
                for (const Count& each : distinct) {
                    const double weight =
                        tf_idf_weight(frequencies.frequency(each.ngram), log_documents);
                    const double value = each.count * weight;
                    sum += value * value;
                }
                norms[current] = std::sqrt(sum);
                distinct.clear();
            };
            std::fill_n(norms, order, 0.0);
            each_ngram(
                captions[k], order, scratch,
                [&](std::uint32_t prefix, std::uint32_t word) {
                    return frequencies.next(prefix, word);
                },
                [&](std::size_t n, std::uint32_t ngram) {
                    if (n != current) {
                        finish();
                        current = n;
                    }
                    for (Count& each : distinct) {
                        if (each.ngram == ngram) {
                            ++each.count;
                            return;
                        }
                    }
                    distinct.push_back({ngram, 1.0});
                });
            finish();
        }
    });
}

void cider_statistics(WordsView candidates, WordsView references, const double* reference_norms,
                      Pairing pairing, const DocumentFrequencies& frequencies,
                      const CiderParameters& parameters, std::size_t threads, double* out) {
    const std::size_t order = frequencies.order();
    parallel_blocks(candidates.size, kBlockSize, threads, [&](std::size_t begin, std::size_t end) {
        Candidate candidate(frequencies, parameters);
        for (std::size_t k = begin; k < end; ++k) {
            candidate.set(candidates[k]);
            double* row = out + k * order;
            std::fill_n(row, order, 0.0);
            const std::size_t first = pairing.begin(k), last = pairing.end(k);
            for (std::size_t r = first; r < last; ++r) {
                candidate.add_similarity(references[r], reference_norms + r * order, row);
            }
            for (std::size_t n = 0; n < order; ++n) row[n] /= static_cast<double>(last - first);
        }
    });
}

void cider_group_sums(WordsView texts, const std::int64_t* candidates,
                      const std::int64_t* references, const std::int64_t* group_offsets,
                      std::size_t groups, std::size_t order, CiderParameters parameters,
                      std::size_t threads, double* out) {
    // Groups are small, and those of a block share what is known of their texts.
    parallel_blocks(groups, 8 * kBlockSize, threads, [&](std::size_t first, std::size_t last) {
        PairGroup group(texts, order, parameters);
        for (std::size_t g = first; g < last; ++g) {
            const auto begin = group_offsets[g];
            group.sum(candidates + begin, references + begin,
                      std::size_t(group_offsets[g + 1] - begin), out + g * order);
        }
    });
}

}  // namespace reelscore
