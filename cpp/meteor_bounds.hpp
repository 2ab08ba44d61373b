// Upper bounds of METEOR, so that pairs of captions that cannot win need not be aligned.
//
// Which words of both captions may be matched at all, and how, follows from lists, without any
// search, and bounds precision, recall and the length of chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matchable_words.hpp"
#include "meteor.hpp"
#include "meteor_captions.hpp"
#include "meteor_powers.hpp"

namespace reelscore {

// How long a caption is.
struct CaptionSize {
    std::uint64_t content = 0;   // which words are content words
    double weighted_length = 0;  // with content words and function words as METEOR weighs them
    std::uint32_t words = 0;
    bool is_too_long = false;  // to be bounded; the rest is not set then

    CaptionSize() = default;
    CaptionSize(const MeteorCaptions& captions, std::uint32_t caption, double delta);
};

// No alignment of two captions scores higher; neither caption may be too long. One per thread.
class ScoreBounds {
  public:
    ScoreBounds(const MeteorParameters& parameters, FragmentationPowers& powers);

    double quick(const MatchableWords& words, const CaptionSize& candidate,
                 const CaptionSize& reference);
    // Takes chunks into account.
    double tight(const MatchableWords& words, const CaptionSize& candidate,
                 const CaptionSize& reference);

  private:
    // Words that stand together and may be matched in one chunk, with what they may weigh.
    struct Runs {
        double masses[kMostPlaces];
        std::uint32_t words[kMostPlaces];
        std::size_t count;
    };
    // What precision and recall are shares of, for one pair.
    struct Lengths {
        double candidate, reference;
    };

    double mass(const MatchableSide& side, std::uint64_t words, std::uint64_t content) const;
    double bound(double candidate_mass, double reference_mass, Lengths lengths, double chunks,
                 double matches, bool is_complete);
    void list_runs(const MatchableSide& side, std::uint64_t content, Runs& runs) const;

    MeteorParameters parameters_;
    FragmentationPowers& powers_;  // the owner's, who may need them too
    Runs candidate_runs_, reference_runs_;
};

}  // namespace reelscore
