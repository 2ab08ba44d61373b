#include "lcs.hpp"

#include <algorithm>
#include <utility>

#include "bits.hpp"
#include "parallel.hpp"
#include "word_places.hpp"

namespace reelscore {
namespace {

using Mask = std::uint64_t;
constexpr std::size_t mask_bits = 64;

// Bit-parallel LCS (Hyyrö, 2004): the candidate's positions are bits, so each reference word costs
// one step per 64 candidate words. Of long candidates, a word's mask is built from its positions
// when it is met and taken down again: memory stays linear in the candidate's length.
class CandidateMasks {
  public:
    void set(WordsView::Run candidate) {
        length_ = candidate.size;
        is_short_ = length_ <= WordPlaces::kMostWords;
        if (is_short_) {
            word_places_.set(candidate);
            return;
        }
        mask_.assign((length_ + mask_bits - 1) / mask_bits, 0);
        places_.clear();
        for (std::size_t k = 0; k < length_; ++k) places_.emplace_back(candidate[k], k);
        std::sort(places_.begin(), places_.end());
    }

    std::size_t lcs(WordsView::Run reference) {
        return is_short_ ? lcs_of_short(reference) : lcs_of_long(reference);
    }

  private:
    using Place = std::pair<std::uint32_t, std::size_t>;  // word, position

    std::size_t lcs_of_short(WordsView::Run reference) const {
        Mask state = ~Mask(0);
        for (std::uint32_t word : reference) {
            const Mask mask = word_places_[word];
            state = (state + (state & mask)) | (state & ~mask);
        }
        return count_bits(~state);  // words behind the last one stay set
    }

    std::size_t lcs_of_long(WordsView::Run reference) {
        state_.assign(mask_.size(), ~Mask(0));
        for (std::uint32_t word : reference) {
            const auto first =
                std::lower_bound(places_.begin(), places_.end(), Place(word, std::size_t(0)));
            if (first == places_.end() || first->first != word) continue;
            auto last = first;
            for (; last != places_.end() && last->first == word; ++last) {
                mask_[last->second / mask_bits] |= Mask(1) << (last->second % mask_bits);
            }
            advance();
            for (auto place = first; place != last; ++place) mask_[place->second / mask_bits] = 0;
        }
        std::size_t common = 0;
        for (std::size_t k = 0; k < length_; ++k) {
            common += !(state_[k / mask_bits] >> (k % mask_bits) & 1);
        }
        return common;
    }

    // state := (state + (state & mask)) | (state & ~mask), over all blocks with carry.
    void advance() {
        Mask carry = 0;
        for (std::size_t b = 0; b < mask_.size(); ++b) {
            const Mask matched = state_[b] & mask_[b];
            const Mask sum = state_[b] + matched;
            const Mask total = sum + carry;
            carry = sum < matched || total < sum;
            state_[b] = total | (state_[b] & ~mask_[b]);
        }
    }

    std::size_t length_ = 0;
    bool is_short_ = true;
    WordPlaces word_places_;
    std::vector<Place> places_;
    std::vector<Mask> mask_, state_;
};

}  // namespace

void rouge_l_statistics(WordsView candidates, WordsView references, Pairing pairing,
                        double recall_weight, std::size_t threads, double* out) {
    parallel_blocks(candidates.size, kBlockSize, threads, [&](std::size_t begin, std::size_t end) {
        CandidateMasks masks;
        for (std::size_t k = begin; k < end; ++k) {
            const WordsView::Run candidate = candidates[k];
            masks.set(candidate);
            double precision = 0, recall = 0;
            for (std::size_t r = pairing.begin(k); r < pairing.end(k); ++r) {
                const WordsView::Run reference = references[r];
                if (candidate.size == 0 || reference.size == 0) continue;
                const double common = static_cast<double>(masks.lcs(reference));
                precision = std::max(precision, common / static_cast<double>(candidate.size));
                recall = std::max(recall, common / static_cast<double>(reference.size));
            }
            const double below = recall + recall_weight * precision;
            out[2 * k] = below > 0 ? (1 + recall_weight) * precision * recall / below : 0.0;
            out[2 * k + 1] = 1.0;
        }
    });
}

}  // namespace reelscore
