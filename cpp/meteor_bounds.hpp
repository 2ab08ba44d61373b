// Upper bounds of METEOR, to find the best of many candidates without aligning all of them.
//
// A word that is matched is matched exactly, or has a synonym, a word of the same stem or a
// paraphrase in the other caption. Which words of both captions are of which kind follows from
// lists, without any search, and bounds precision, recall and the length of chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "meteor.hpp"
#include "meteor_captions.hpp"

namespace reelscore {

// Where words and phrases stand in the candidates; made once, for all references.
class CandidateIndex {
  public:
    // Captions of up to this many words are bounded; for longer ones the bound is infinite.
    static constexpr std::size_t kMostWords = 64;

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
    struct Size {
        std::uint64_t content = 0;   // which words are content words
        double weighted_length = 0;  // negative for a candidate that is too long
        std::uint32_t words = 0;
    };

    const MeteorCaptions& captions_;
    std::vector<Size> sizes_;
    Postings by_key_, by_word_, by_phrase_;
    std::vector<std::vector<std::uint32_t>> words_by_stem_, words_by_synset_;
};

// Bounds for one reference after the other; one per thread.
class ReferenceBounds {
  public:
    ReferenceBounds(const CandidateIndex& index, const MeteorParameters& parameters);

    void set_reference(std::uint32_t caption);
    // No alignment scores higher: a quick bound, and a tighter one, which takes chunks into
    // account.
    double quick(std::size_t candidate) const;
    double tight(std::size_t candidate) const;

  private:
    // Words that may be matched: exactly, else by a synonym, else by stem or paraphrase. Where a
    // caption has a word more often than the other, any of its places may be matched exactly, but
    // not all of them: `exact` has as many as can be, `spare` the rest.
    struct Side {
        std::uint64_t exact = 0, spare = 0, synonym = 0, other = 0;

        std::uint64_t together() const { return exact | synonym | other; }
        Side with_spare() const { return {exact | spare, 0, synonym, other}; }
    };
    struct Masks {
        Side candidate, reference;
    };
    struct Related {
        std::uint32_t word;
        bool is_synonym;
    };
    struct Run {
        double mass;
        std::uint32_t words;
    };

    const std::vector<Related>& related(std::uint32_t word);
    void mark_phrases(std::uint32_t caption);
    void mark_related(Slice<std::uint32_t> words);
    void mark_exact(Slice<std::uint32_t> words);
    static std::uint64_t spare_places(std::uint64_t all, std::size_t count, const Side& side);
    double mass(const Side& side, std::uint64_t words, std::uint64_t content) const;
    double bound(double candidate_mass, double reference_mass, double candidate_length,
                 double chunks, double matches, bool is_complete) const;
    void list_runs(const Side& side, std::uint64_t content, std::vector<Run>& runs) const;

    const CandidateIndex& index_;
    const MeteorCaptions& captions_;
    MeteorParameters parameters_;
    std::vector<double> powers_;  // of chunks over matches
    std::vector<Masks> masks_;
    CandidateIndex::Size reference_;
    std::vector<std::vector<Related>> related_;
    std::vector<bool> has_related_;
    std::vector<std::uint32_t> seen_words_;  // the time at which a word was last listed
    std::uint32_t now_ = 0;
    mutable std::vector<Run> candidate_runs_, reference_runs_;
};

}  // namespace reelscore
