#include "meteor_bounds.hpp"

#include <algorithm>
#include <functional>

namespace reelscore {
namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

constexpr double kSlack = 1.0 + 1e-9;  // bounds are rounded otherwise than scores

}  // namespace

CaptionSize::CaptionSize(const MeteorCaptions& captions, uint32_t caption, double delta) {
    const Slice<uint32_t> all = captions.words(caption);
    is_too_long = all.size > kMostPlaces;
    if (is_too_long) return;
    words = static_cast<uint32_t>(all.size);
    for (size_t place = 0; place < all.size; ++place) {
        if (!captions.facts(all[place]).is_function_word) content |= places(place, 1);
    }
    const uint32_t content_words = count_bits(content);
    weighted_length = delta * content_words + (1.0 - delta) * (words - content_words);
}

ScoreBounds::ScoreBounds(const MeteorParameters& parameters, FragmentationPowers& powers)
    : parameters_(parameters), powers_(powers) {}

// The greatest weight that matches can give to some words of a caption.
double ScoreBounds::mass(const MatchableSide& side, uint64_t words, uint64_t content) const {
    const auto& w = parameters_.weights;  // exact, stem, synonym, paraphrase
    const double other_weight = std::max(w[1], w[3]);
    const double synonym_weight = std::max(w[2], other_weight);
    const uint64_t synonym = side.synonym & ~side.exact;
    const uint64_t other = side.other & ~side.exact & ~side.synonym;
    const auto weigh = [&](uint64_t mask) {
        return w[0] * count_bits(side.exact & mask) + synonym_weight * count_bits(synonym & mask) +
               other_weight * count_bits(other & mask);
    };
    return parameters_.delta * weigh(words & content) +
           (1.0 - parameters_.delta) * weigh(words & ~content);
}

double ScoreBounds::bound(double candidate_mass, double reference_mass, Lengths lengths,
                          double chunks, double matches, bool is_complete) {
    if (!(candidate_mass > 0.0) || !(reference_mass > 0.0)) return 0.0;
    const double precision = candidate_mass / lengths.candidate;
    const double recall = reference_mass / lengths.reference;
    const double f = 1.0 / ((1.0 - parameters_.alpha) / precision + parameters_.alpha / recall);
    const double power = is_complete ? 0.0 : powers_(chunks, matches);
    return kSlack * f * (1.0 - parameters_.gamma * power);
}

double ScoreBounds::quick(const MatchableWords& words, const CaptionSize& candidate,
                          const CaptionSize& reference) {
    const uint64_t ours = words.candidate.together(), theirs = words.reference.together();
    if (ours == 0) return 0.0;
    const uint32_t matched = count_bits(ours), matched_reference = count_bits(theirs);
    return bound(mass(words.candidate, ours, candidate.content),
                 mass(words.reference, theirs, reference.content),
                 {candidate.weighted_length, reference.weighted_length}, 1.0,
                 matched + matched_reference,
                 matched == candidate.words && matched_reference == reference.words);
}

void ScoreBounds::list_runs(const MatchableSide& side, uint64_t content, Runs& runs) const {
    runs.count = 0;
    const uint64_t all = side.together(), ends = all & ~(side.joined & all >> 1);
    for (uint64_t rest = all; rest != 0;) {
        const uint64_t end = ends & rest & (~(ends & rest) + 1);
        const uint64_t run = rest & ((end << 1) - 1);
        runs.masses[runs.count] = mass(side, run, content);
        runs.words[runs.count++] = count_bits(run);
        rest &= ~run;
    }
    // Those that weigh most, and those with most words: they need not be the same.
    std::sort(runs.masses, runs.masses + runs.count, std::greater<>());
    std::sort(runs.words, runs.words + runs.count, std::greater<>());
}

// A chunk is inside a run of words that may be matched, in both captions: with so many chunks no
// more than as many runs can be matched.
double ScoreBounds::tight(const MatchableWords& words, const CaptionSize& candidate,
                          const CaptionSize& reference) {
    struct Totals {
        double mass;
        uint32_t words;
    };
    const auto totals_of = [&](const MatchableSide& side, uint64_t content) {
        return Totals{mass(side, side.together(), content), count_bits(side.together())};
    };
    const Totals ours = totals_of(words.candidate, candidate.content);
    const Totals theirs = totals_of(words.reference, reference.content);
    list_runs(words.candidate.with_spare(), candidate.content, candidate_runs_);
    list_runs(words.reference.with_spare(), reference.content, reference_runs_);
    const bool may_be_complete = ours.words == candidate.words && theirs.words == reference.words;
    const Lengths lengths{candidate.weighted_length, reference.weighted_length};
    Totals own{0.0, 0}, other{0.0, 0};
    double best = 0.0;
    for (size_t k = 0; k < std::max(candidate_runs_.count, reference_runs_.count); ++k) {
        if (k < candidate_runs_.count) {
            own.mass += candidate_runs_.masses[k];
            own.words += candidate_runs_.words[k];
        }
        if (k < reference_runs_.count) {
            other.mass += reference_runs_.masses[k];
            other.words += reference_runs_.words[k];
        }
        const uint32_t matches =
            std::min(own.words, ours.words) + std::min(other.words, theirs.words);
        best = std::max(
            best, bound(std::min(own.mass, ours.mass), std::min(other.mass, theirs.mass), lengths,
                        static_cast<double>(k + 1), matches, k == 0 && may_be_complete));
    }
    return best;
}

}  // namespace reelscore
