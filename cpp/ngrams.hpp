// N-gram statistics: BLEU and Self-BLEU; and numbers for n-grams.
//
// An n-gram is numbered by the pair (number of its first n - 1 words, last word), so equal
// numbers mean equal n-grams: exact, unlike a hash of the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "words.hpp"

namespace reelscore {

// Numbers pairs of integers in the order of their first appearance.
class PairIds {
  public:
    static constexpr std::uint32_t none = 0xffffffffu;
    static constexpr std::uint32_t root = none - 1;  // the empty n-gram

    // The number of a pair, which is added if it is new.
    std::uint32_t id(std::uint32_t first, std::uint32_t second) {
        if (3 * (size_ + 1) > 2 * slots_.size()) grow();
        Slot& slot = slots_[slot_of(first, second)];
        if (slot.id == none) slot = {first, second, static_cast<std::uint32_t>(size_++)};
        return slot.id;
    }
    // The same, but none if it is unknown.
    std::uint32_t find(std::uint32_t first, std::uint32_t second) const {
        return slots_.empty() ? none : slots_[slot_of(first, second)].id;
    }
    // Makes id() and find() of a pair quicker, a little later.
    void expect(std::uint32_t first, std::uint32_t second) const {
        if (!slots_.empty()) prefetch(&slots_[hash(first, second) & (slots_.size() - 1)]);
    }
    std::size_t size() const { return size_; }
    void clear();
    void reserve(std::size_t size);
    // The first and the second integers of the pairs whose number is begin or more, by number.
    template <typename Integer>
    std::pair<std::vector<Integer>, std::vector<Integer>> pairs(std::size_t begin = 0) const {
        std::vector<Integer> firsts(size_ - begin), seconds(size_ - begin);
        for (const Slot& slot : slots_) {
            if (slot.id == none || slot.id < begin) continue;
            firsts[slot.id - begin] = slot.first;
            seconds[slot.id - begin] = slot.second;
        }
        return {std::move(firsts), std::move(seconds)};
    }

  private:
    struct Slot {
        std::uint32_t first, second;
        std::uint32_t id;  // none where free
    };

    static std::uint64_t hash(std::uint32_t first, std::uint32_t second) {
        const std::uint64_t hash = (std::uint64_t{first} << 32 | second) * 0x9e3779b97f4a7c15u;
        return hash ^ hash >> 32;
    }
    std::size_t slot_of(std::uint32_t first, std::uint32_t second) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t k = hash(first, second) & mask;
        while (slots_[k].id != none && (slots_[k].first != first || slots_[k].second != second)) {
            k = (k + 1) & mask;
        }
        return k;
    }
    void grow();
    void resize(std::size_t slots);

    using Slots = std::vector<Slot>;

    Slots slots_;  // open addressing, at most two thirds full
    std::size_t size_ = 0;
};

// Calls visit(n, number) for every n-gram of orders 0..order-1 (n counts from 0), shorter n-grams
// first, in text order. step(prefix, word) gives the number of an n-gram or none; n-grams whose
// beginning has none are passed over. scratch holds the numbers of the current order.
template <typename Step, typename Visit>
void each_ngram(WordsView::Run words, std::size_t order, std::vector<std::uint32_t>& scratch,
                Step&& step, Visit&& visit) {
    scratch.assign(words.size, PairIds::root);
    for (std::size_t n = 0; n < order && n < words.size; ++n) {
        for (std::size_t k = 0; k + n < words.size; ++k) {
            if (scratch[k] == PairIds::none) continue;
            scratch[k] = step(scratch[k], words[k + n]);
            if (scratch[k] != PairIds::none) visit(n, scratch[k]);
        }
    }
}

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

}  // namespace reelscore
