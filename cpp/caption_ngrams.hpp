// The n-grams of one caption, to be found in others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bits.hpp"
#include "ngrams.hpp"
#include "word_places.hpp"

namespace reelscore {

// Numbers the n-grams of a caption, shorter ones first, in text order. An n-gram of a short caption
// is told by the first place at which it stands there, so no table of n-grams is needed.
class CaptionNgrams {
  public:
    explicit CaptionNgrams(std::size_t order) : order_(order) {}

    void set(WordsView::Run words) {
        length_ = words.size;
        is_short_ = length_ <= WordPlaces::kMostWords;
        if (is_short_) {
            places_.set(words);
            return;
        }
        ids_.clear();
        each_ngram(
            words, order_, scratch_,
            [this](std::uint32_t prefix, std::uint32_t word) { return ids_.id(prefix, word); },
            [](std::size_t, std::uint32_t) {});
    }

    // All numbers are below; those of a short caption need not all be in use.
    std::size_t size() const {
        return is_short_ ? length_ * std::min(order_, length_) : ids_.size();
    }

    // Calls visit(n, number) for all n-grams of a text that the caption has, orders from 0 on,
    // shorter ones first, in text order.
    template <typename Visit>
    void each_in(WordsView::Run text, Visit&& visit) {
        if (is_short_) {
            each_in_short(text, visit);
        } else {
            each_ngram(
                text, order_, scratch_,
                [this](std::uint32_t prefix, std::uint32_t word) {
                    return ids_.find(prefix, word);
                },
                visit);
        }
    }

  private:
    // An n-gram stands in the caption where its first word does, and its second one place later.
    template <typename Visit>
    void each_in_short(WordsView::Run text, Visit& visit) {
        words_.assign(text.size + order_, 0);  // after the last word nothing goes on
        starts_.resize(text.size);
        std::size_t count = 0;
        for (std::size_t k = 0; k < text.size; ++k) {
            words_[k] = places_[text[k]];
            starts_[count] = {words_[k], k};
            count += words_[k] != 0;
        }
        for (std::size_t n = 0; n < order_ && count > 0; ++n) {
            const std::size_t before = count;
            count = 0;
            for (std::size_t k = 0; k < before; ++k) {
                const Start start = starts_[k];
                visit(n, static_cast<std::uint32_t>(n * length_ + lowest_bit(start.places)));
                const std::uint64_t longer = start.places & words_[start.word + n + 1] >> (n + 1);
                starts_[count] = {longer, start.word};
                count += longer != 0;
            }
        }
    }

    struct Start {
        std::uint64_t places;  // in the caption
        std::size_t word;      // of the text
    };

    std::size_t order_, length_ = 0;
    bool is_short_ = true;
    WordPlaces places_;
    std::vector<std::uint64_t> words_;  // where each word of a text stands in the caption
    std::vector<Start> starts_;         // of the n-grams that the caption has
    PairIds ids_;                       // of a long caption
    std::vector<std::uint32_t> scratch_;
};

}  // namespace reelscore
