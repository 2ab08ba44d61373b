#include "meteor_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "bits.hpp"

namespace reelscore {
namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

constexpr size_t kMost = CandidateIndex::kMostWords;
constexpr double kSlack = 1.0 + 1e-9;  // bounds are rounded otherwise than scores
constexpr double kTooLong = -1.0;

uint64_t places(size_t start, size_t length) {
    return (length >= 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1) << start;
}

// The places of each distinct value in a caption, by the value.
template <typename ValueOf>
std::vector<std::pair<uint32_t, uint64_t>> places_by(Slice<uint32_t> words, ValueOf&& value_of) {
    std::vector<std::pair<uint32_t, uint64_t>> found;
    for (size_t k = 0; k < words.size; ++k) found.emplace_back(value_of(words[k]), places(k, 1));
    std::sort(found.begin(), found.end());
    size_t kept = 0;
    for (const auto& [value, place] : found) {
        if (kept > 0 && found[kept - 1].first == value) {
            found[kept - 1].second |= place;
        } else {
            found[kept++] = {value, place};
        }
    }
    found.resize(kept);
    return found;
}

}  // namespace

void CandidateIndex::Postings::add(uint32_t list, uint32_t candidate, uint64_t words) {
    if (list >= lists_.size()) lists_.resize(list + size_t{1});
    lists_[list].push_back({candidate, words});
}

Slice<CandidateIndex::Posting> CandidateIndex::Postings::operator[](uint32_t list) const {
    if (list >= lists_.size()) return {};
    return {lists_[list].data(), lists_[list].size()};
}

CandidateIndex::CandidateIndex(const MeteorCaptions& captions,
                               const std::vector<uint32_t>& candidates, double delta)
    : captions_(captions),
      sizes_(candidates.size()),
      words_by_stem_(captions.stem_count()),
      words_by_synset_(captions.synset_count()) {
    std::vector<bool> is_listed(captions.word_count());
    for (uint32_t k = 0; k < candidates.size(); ++k) {
        const Slice<uint32_t> words = captions.words(candidates[k]);
        Size& size = sizes_[k];
        size.words = static_cast<uint32_t>(words.size);
        if (words.size > kMost) {
            size.weighted_length = kTooLong;
            continue;
        }
        for (size_t place = 0; place < words.size; ++place) {
            const WordFacts& facts = captions.facts(words[place]);
            if (!facts.is_function_word) size.content |= places(place, 1);
            size.weighted_length += facts.is_function_word ? 1.0 - delta : delta;
            if (is_listed[words[place]]) continue;
            is_listed[words[place]] = true;
            words_by_stem_[facts.stem].push_back(words[place]);
            for (uint32_t synset : captions.synsets(facts)) {
                words_by_synset_[synset].push_back(words[place]);
            }
        }
        const auto key_of = [&](uint32_t word) { return captions.facts(word).key; };
        for (const auto& [key, own] : places_by(words, key_of)) by_key_.add(key, k, own);
        const auto itself = [](uint32_t word) { return word; };
        for (const auto& [word, own] : places_by(words, itself)) by_word_.add(word, k, own);
        for (const PhraseOccurrence& phrase : captions.phrases(candidates[k])) {
            by_phrase_.add(phrase.phrase, k, places(phrase.start, phrase.length));
        }
    }
}

ReferenceBounds::ReferenceBounds(const CandidateIndex& index, const MeteorParameters& parameters)
    : index_(index),
      captions_(index.captions_),
      parameters_(parameters),
      powers_((kMost + 1) * (2 * kMost + 1), 0.0),
      masks_(index.size()),
      related_(captions_.word_count()),
      has_related_(captions_.word_count()),
      seen_words_(captions_.word_count()) {
    for (size_t chunks = 0; chunks <= kMost; ++chunks) {
        for (size_t matches = 1; matches <= 2 * kMost; ++matches) {
            const double fragmentation =
                static_cast<double>(chunks) / (static_cast<double>(matches) / 2.0);
            powers_[chunks * (2 * kMost + 1) + matches] = std::pow(fragmentation, parameters.beta);
        }
    }
}

void ReferenceBounds::set_reference(uint32_t caption) {
    const Slice<uint32_t> words = captions_.words(caption);
    reference_ = {};
    reference_.words = static_cast<uint32_t>(words.size);
    if (words.size > kMost) {
        reference_.weighted_length = kTooLong;
        return;
    }
    for (size_t place = 0; place < words.size; ++place) {
        const bool is_function_word = captions_.facts(words[place]).is_function_word;
        if (!is_function_word) reference_.content |= places(place, 1);
        reference_.weighted_length +=
            is_function_word ? 1.0 - parameters_.delta : parameters_.delta;
    }
    std::fill(masks_.begin(), masks_.end(), Masks{});
    mark_phrases(caption);
    mark_related(words);
    mark_exact(words);
}

// Phrases of the reference and their paraphrases in candidates, whichever the table starts from.
void ReferenceBounds::mark_phrases(uint32_t caption) {
    for (const PhraseOccurrence& phrase : captions_.phrases(caption)) {
        const uint64_t own = places(phrase.start, phrase.length);
        for (const Slice<uint32_t> linked :
             {captions_.paraphrases(phrase.phrase), captions_.sources(phrase.phrase)}) {
            for (uint32_t other : linked) {
                for (const CandidateIndex::Posting& posting : index_.by_phrase_[other]) {
                    Masks& masks = masks_[posting.candidate];
                    masks.candidate.other |= posting.words;
                    masks.reference.other |= own;
                }
            }
        }
    }
}

// The words of candidates that share a synset or a stem with a word, but are not the same.
const std::vector<ReferenceBounds::Related>& ReferenceBounds::related(uint32_t word) {
    std::vector<Related>& found = related_[word];
    if (has_related_[word]) return found;
    has_related_[word] = true;
    ++now_;
    const WordFacts& facts = captions_.facts(word);
    const auto list = [&](const std::vector<uint32_t>& words, bool is_synonym) {
        for (uint32_t other : words) {
            if (seen_words_[other] == now_ || captions_.facts(other).key == facts.key) continue;
            seen_words_[other] = now_;
            found.push_back({other, is_synonym});
        }
    };
    for (uint32_t synset : captions_.synsets(facts)) list(index_.words_by_synset_[synset], true);
    list(index_.words_by_stem_[facts.stem], false);
    return found;
}

void ReferenceBounds::mark_related(Slice<uint32_t> words) {
    for (const auto& [word, own] : places_by(words, [](uint32_t itself) { return itself; })) {
        for (const Related& other : related(word)) {
            for (const CandidateIndex::Posting& posting : index_.by_word_[other.word]) {
                Masks& masks = masks_[posting.candidate];
                (other.is_synonym ? masks.candidate.synonym : masks.candidate.other) |=
                    posting.words;
                (other.is_synonym ? masks.reference.synonym : masks.reference.other) |= own;
            }
        }
    }
}

// Of places of one word the surplus over what the other caption has. Only these need another kind
// of match, so they are places that have one, as far as there are any.
uint64_t ReferenceBounds::spare_places(uint64_t all, size_t count, const Side& side) {
    size_t surplus = count_bits(all);
    surplus = surplus > count ? surplus - count : 0;
    uint64_t spare = 0;
    const uint64_t other = side.other & ~side.synonym;
    for (uint64_t group : {all & side.synonym, all & other, all & ~side.synonym & ~side.other}) {
        for (; group != 0 && surplus > 0; --surplus) {
            spare |= group & (~group + 1);
            group &= group - 1;
        }
    }
    return spare;
}

void ReferenceBounds::mark_exact(Slice<uint32_t> words) {
    const auto key_of = [&](uint32_t word) { return captions_.facts(word).key; };
    for (const auto& [key, own] : places_by(words, key_of)) {
        const size_t count = count_bits(own);
        for (const CandidateIndex::Posting& posting : index_.by_key_[key]) {
            Side& ours = masks_[posting.candidate].candidate;
            Side& theirs = masks_[posting.candidate].reference;
            const size_t own_count = count_bits(posting.words);
            const uint64_t spare = own_count > count ? spare_places(posting.words, count, ours) : 0;
            const uint64_t spare_reference =
                count > own_count ? spare_places(own, own_count, theirs) : 0;
            ours.spare |= spare;
            ours.exact |= posting.words & ~spare;
            theirs.spare |= spare_reference;
            theirs.exact |= own & ~spare_reference;
        }
    }
}

// The greatest weight that matches can give to some words of a caption.
double ReferenceBounds::mass(const Side& side, uint64_t words, uint64_t content) const {
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

double ReferenceBounds::bound(double candidate_mass, double reference_mass, double candidate_length,
                              double chunks, double matches, bool is_complete) const {
    if (!(candidate_mass > 0.0) || !(reference_mass > 0.0)) return 0.0;
    const double precision = candidate_mass / candidate_length;
    const double recall = reference_mass / reference_.weighted_length;
    const double f = 1.0 / ((1.0 - parameters_.alpha) / precision + parameters_.alpha / recall);
    const double power =
        is_complete
            ? 0.0
            : powers_[static_cast<size_t>(chunks) * (2 * kMost + 1) + static_cast<size_t>(matches)];
    return kSlack * f * (1.0 - parameters_.gamma * power);
}

double ReferenceBounds::quick(size_t candidate) const {
    const CandidateIndex::Size& size = index_.sizes_[candidate];
    if (size.weighted_length < 0.0 || reference_.weighted_length < 0.0) {
        return std::numeric_limits<double>::infinity();
    }
    const Masks& masks = masks_[candidate];
    const uint64_t ours = masks.candidate.together(), theirs = masks.reference.together();
    if (ours == 0) return 0.0;
    const uint32_t matched = count_bits(ours), matched_reference = count_bits(theirs);
    return bound(mass(masks.candidate, ours, size.content),
                 mass(masks.reference, theirs, reference_.content), size.weighted_length, 1.0,
                 matched + matched_reference,
                 matched == size.words && matched_reference == reference_.words);
}

// Words that stand together and may be matched, with what they may weigh.
void ReferenceBounds::list_runs(const Side& side, uint64_t content, std::vector<Run>& runs) const {
    runs.clear();
    for (uint64_t rest = side.together(); rest != 0;) {
        const uint64_t lowest = rest & (~rest + 1);
        const uint64_t run = rest & ~(rest + lowest);
        runs.push_back({mass(side, run, content), count_bits(run)});
        rest &= ~run;
    }
}

// A chunk is inside a run of words that may be matched, in both captions: with so many chunks no
// more than as many runs can be matched.
double ReferenceBounds::tight(size_t candidate) const {
    const CandidateIndex::Size& size = index_.sizes_[candidate];
    if (size.weighted_length < 0.0 || reference_.weighted_length < 0.0) {
        return std::numeric_limits<double>::infinity();
    }
    const Masks& masks = masks_[candidate];
    struct Totals {
        double mass;
        uint32_t words;
    };
    const auto totals_of = [&](const Side& side, uint64_t content) {
        return Totals{mass(side, side.together(), content), count_bits(side.together())};
    };
    const Totals ours = totals_of(masks.candidate, size.content);
    const Totals theirs = totals_of(masks.reference, reference_.content);
    list_runs(masks.candidate.with_spare(), size.content, candidate_runs_);
    list_runs(masks.reference.with_spare(), reference_.content, reference_runs_);
    const bool may_be_complete = ours.words == size.words && theirs.words == reference_.words;

    // The runs that weigh most, and those with most words: they need not be the same.
    const size_t most = std::max(candidate_runs_.size(), reference_runs_.size());
    double masses[2][kMost] = {};
    uint32_t counts[2][kMost] = {};
    for (size_t side = 0; side < 2; ++side) {
        const std::vector<Run>& runs = side == 0 ? candidate_runs_ : reference_runs_;
        for (size_t k = 0; k < runs.size(); ++k) {
            masses[side][k] = runs[k].mass;
            counts[side][k] = runs[k].words;
        }
        std::sort(masses[side], masses[side] + runs.size(), std::greater<>());
        std::sort(counts[side], counts[side] + runs.size(), std::greater<>());
    }
    double best = 0.0, candidate_mass = 0.0, reference_mass = 0.0;
    uint32_t words = 0, reference_words = 0;
    for (size_t chunks = 1; chunks <= most; ++chunks) {
        candidate_mass += masses[0][chunks - 1];
        reference_mass += masses[1][chunks - 1];
        words += counts[0][chunks - 1];
        reference_words += counts[1][chunks - 1];
        const uint32_t matches =
            std::min(words, ours.words) + std::min(reference_words, theirs.words);
        best = std::max(
            best, bound(std::min(candidate_mass, ours.mass), std::min(reference_mass, theirs.mass),
                        size.weighted_length, static_cast<double>(chunks), matches,
                        chunks == 1 && may_be_complete));
    }
    return best;
}

}  // namespace reelscore
