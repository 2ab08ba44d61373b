// Which words of many candidates a reference may match, to find the best of them without aligning
// all. Lists of where words and phrases stand take the place of comparing pairs of captions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "meteor_bounds.hpp"
#include "meteor_captions.hpp"

namespace reelscore {

// Where words and phrases stand in the candidates; made once, for all references.
class CandidateIndex {
  public:
    CandidateIndex(const MeteorCaptions& captions, const std::vector<std::uint32_t>& candidates,
                   double delta);

    std::size_t size() const { return sizes_.size(); }

  private:
    friend class ReferenceBounds;

    struct Posting {
        std::uint32_t candidate;
        std::uint64_t words;  // the places in the candidate, a bit for each
    };
    class Postings {
      public:
        void add(std::uint32_t list, std::uint32_t candidate, std::uint64_t words);
        Slice<Posting> operator[](std::uint32_t list) const;

      private:
        std::vector<std::vector<Posting>> lists_;
    };

    const MeteorCaptions& captions_;
    std::vector<CaptionSize> sizes_;
    Postings by_key_, by_word_, by_phrase_;
    std::vector<std::vector<std::uint32_t>> words_by_stem_, words_by_synset_;
};

// Bounds for one reference after the other; one per thread.
class ReferenceBounds {
  public:
    ReferenceBounds(const CandidateIndex& index, const MeteorParameters& parameters);

    void set_reference(std::uint32_t caption);
    // As those of ScoreBounds; infinite where a caption is too long to be bounded.
    double quick(std::size_t candidate);
    double tight(std::size_t candidate);

  private:
    struct Related {
        std::uint32_t word;
        bool is_synonym;
    };

    const std::vector<Related>& related(std::uint32_t word);
    void mark_phrases(std::uint32_t caption);
    void mark_related(Slice<std::uint32_t> words);
    void mark_exact(Slice<std::uint32_t> words);
    bool is_too_long(std::size_t candidate) const {
        return reference_.is_too_long || index_.sizes_[candidate].is_too_long;
    }

    const CandidateIndex& index_;
    const MeteorCaptions& captions_;
    double delta_;
    FragmentationPowers powers_;
    ScoreBounds bounds_;
    std::vector<MatchableWords> words_;  // by candidate
    CaptionSize reference_;
    std::vector<std::vector<Related>> related_;
    std::vector<bool> has_related_;
    std::vector<std::uint32_t> seen_words_;  // the time at which a word was last listed
    std::uint32_t now_ = 0;
};

}  // namespace reelscore
