// CIDEr: the similarity of tf-idf vectors of n-grams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ngrams.hpp"

namespace reelscore {

// How many documents (the references of one item together) hold each n-gram.
class DocumentFrequencies {
  public:
    explicit DocumentFrequencies(std::size_t order) : order_(order) {}

    // Adds the n-grams of captions to the table, new ones with a frequency of 0.
    void add(WordsView captions);
    // Counts each item's references as one document.
    void count(WordsView references, const std::int64_t* reference_offsets, std::size_t items);
    // The same in an empty table, and what cider_norms gives for the references. Most n-grams that
    // stand there once are left out: a frequency of one weighs as much as none at all.
    void count_repeated(WordsView references, const std::int64_t* reference_offsets,
                        std::size_t items, double log_documents, double* norms);
    // Sets one n-gram's frequency, for frequencies that come from a file.
    void set(WordsView::Run ngram, double frequency);

    // The table as arrays, by the numbers of the n-grams: the number of all words but the last
    // (PairIds::root of one word), the last word, and the frequency.
    struct Entries {
        std::vector<std::uint32_t> prefixes, words;
        std::vector<double> frequencies;
    };
    Entries entries() const;
    // Adds the frequencies of a table given as arrays, whose words are numbered as here.
    void add(const std::uint32_t* prefixes, const std::uint32_t* words, const double* frequencies,
             std::size_t size);

    // Walks from an n-gram's number to that of the n-gram one word longer.
    std::uint32_t next(std::uint32_t prefix, std::uint32_t word) const {
        return prefix == PairIds::none ? PairIds::none : ids_.find(prefix, word);
    }
    double frequency(std::uint32_t ngram) const {
        return ngram == PairIds::none ? 0.0 : frequencies_[ngram];
    }
    std::size_t order() const { return order_; }
    std::size_t size() const { return ids_.size(); }

  private:
    template <typename Visit>
    void number(WordsView captions, Visit&& visit);

    std::size_t order_;
    PairIds ids_;
    std::vector<double> frequencies_;
};

struct CiderParameters {
    double sigma = 6.0;  // of the Gaussian length penalty; 0 switches the penalty off
    bool clip = true;    // a word repeated in the candidate counts no more than in the reference
    double log_documents = 0.0;  // logarithm of the number of documents
};

// The length of each caption's tf-idf vector, for each order 1..n: captions x n. N-grams that are
// not in the table are passed over.
void cider_norms(WordsView captions, const DocumentFrequencies& frequencies, double log_documents,
                 std::size_t threads, double* out);

// One row per candidate: similarity for each order 1..n, averaged over the references, whose
// norms are those of cider_norms.
void cider_statistics(WordsView candidates, WordsView references, const double* reference_norms,
                      Pairing pairing, const DocumentFrequencies& frequencies,
                      const CiderParameters& parameters, std::size_t threads, double* out);

// Pairs of a candidate and a reference, both by number among the texts. Each group of pairs is a
// set of its own, whose references are one document each (the parameters' number of documents is
// not looked at): group g holds pairs group_offsets[g] .. group_offsets[g + 1]. One row per group:
// for each order the sum of what cider_statistics gives for its pairs, one after the other. It is
// quicker if groups that share texts follow each other.
void cider_group_sums(WordsView texts, const std::int64_t* candidates,
                      const std::int64_t* references, const std::int64_t* group_offsets,
                      std::size_t groups, std::size_t order, CiderParameters parameters,
                      std::size_t threads, double* out);

}  // namespace reelscore
