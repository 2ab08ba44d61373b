// N-gram statistics: BLEU, Self-BLEU and CIDEr.
//
// An n-gram is numbered by the pair (number of its first n - 1 words, last word), so equal
// numbers mean equal n-grams: exact, unlike a hash of the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "words.hpp"

namespace reelscore {

// Numbers pairs of integers in the order of their first appearance.
class PairIds {
  public:
    static constexpr std::uint32_t none = 0xffffffffu;

    std::uint32_t id(std::uint32_t first, std::uint32_t second);  // adds the pair if it is new
    std::uint32_t find(std::uint32_t first, std::uint32_t second) const;  // none if unknown
    std::size_t size() const { return size_; }
    void clear();

  private:
    struct Slot {
        std::uint32_t first, second;
        std::uint32_t id;  // none where free
    };

    std::size_t slot_of(std::uint32_t first, std::uint32_t second) const;
    void grow();

    std::vector<Slot> slots_;  // open addressing, at most two thirds full
    std::size_t size_ = 0;
};

// How many documents (the references of one item together) hold each n-gram. N-grams are first
// numbered, the one step that hashes; counting and norms then only walk along the numbers.
class DocumentFrequencies {
  public:
    explicit DocumentFrequencies(std::size_t order) : order_(order) {}

    // The numbers of all n-grams of the captions, caption by caption, shorter n-grams first.
    std::vector<std::uint32_t> number(WordsView captions);
    // Counts each item's references as one document; numbers are those of all references.
    void count(const std::uint32_t* numbers, WordsView references,
               const std::int64_t* reference_offsets, std::size_t items);
    // Sets one n-gram's frequency, for frequencies that come from a file.
    void set(WordsView::Run ngram, double frequency);

    std::uint32_t root() const { return PairIds::none - 1; }
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
    std::uint32_t add(std::uint32_t prefix, std::uint32_t word);

    std::size_t order_;
    PairIds ids_;
    std::vector<float> frequencies_;  // whole numbers, exact up to 2^24
};

// Which references belong to which candidate: candidate k is of item items[k], whose references
// are reference_offsets[item] .. reference_offsets[item + 1].
struct Pairing {
    const std::int64_t* items;
    const std::int64_t* reference_offsets;

    std::size_t begin(std::size_t k) const { return std::size_t(reference_offsets[items[k]]); }
    std::size_t end(std::size_t k) const { return std::size_t(reference_offsets[items[k] + 1]); }
};

// One row per candidate: matched n-grams of orders 1..n, candidate n-grams of orders 1..n,
// candidate length, length of the reference nearest in length (the shorter of two as near).
void bleu_statistics(WordsView candidates, WordsView references, Pairing pairing, std::size_t order,
                     std::size_t threads, double* out);

// The same row for each caption against all other captions of its group; group g holds captions
// group_offsets[g] .. group_offsets[g + 1]. A caption alone in its group gets zeros. Time is
// linear: an n-gram's highest count among the *others* is its highest or second highest count.
void self_bleu_statistics(WordsView captions, const std::int64_t* group_offsets, std::size_t groups,
                          std::size_t order, std::size_t threads, double* out);

struct CiderParameters {
    double sigma = 6.0;  // of the Gaussian length penalty; 0 switches the penalty off
    bool clip = true;    // a word repeated in the candidate counts no more than in the reference
    double log_documents = 0.0;  // logarithm of the number of documents
};

// The length of each caption's tf-idf vector, for each order 1..n: captions x n. The numbers are
// those DocumentFrequencies::number gave for these captions.
void cider_norms(const std::uint32_t* numbers, WordsView captions,
                 const DocumentFrequencies& frequencies, double log_documents, double* out);

// One row per candidate: similarity for each order 1..n, averaged over the references, whose
// norms are those of cider_norms.
void cider_statistics(WordsView candidates, WordsView references, const double* reference_norms,
                      Pairing pairing, const DocumentFrequencies& frequencies,
                      const CiderParameters& parameters, std::size_t threads, double* out);

}  // namespace reelscore
