#include "meteor_candidates.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace reelscore {
namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

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
      words_by_stem_(captions.texts().stem_count()),
      words_by_synset_(captions.texts().synset_count()) {
    std::vector<bool> is_listed(captions.texts().word_count());
    sizes_.reserve(candidates.size());
    for (uint32_t k = 0; k < candidates.size(); ++k) {
        sizes_.emplace_back(captions, candidates[k], delta);
        if (sizes_.back().is_too_long) continue;
        const Slice<uint32_t> words = captions.words(candidates[k]);
        for (uint32_t word : words) {
            if (is_listed[word]) continue;
            is_listed[word] = true;
            const WordFacts& facts = captions.facts(word);
            words_by_stem_[facts.stem].push_back(word);
            for (uint32_t synset : captions.synsets(facts)) {
                words_by_synset_[synset].push_back(word);
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
      delta_(parameters.delta),
      powers_(parameters.beta),
      bounds_(parameters, powers_),
      words_(index.size()),
      related_(captions_.texts().word_count()),
      has_related_(captions_.texts().word_count()),
      seen_words_(captions_.texts().word_count()) {}

void ReferenceBounds::set_reference(uint32_t caption) {
    reference_ = CaptionSize(captions_, caption, delta_);
    if (reference_.is_too_long) return;
    const Slice<uint32_t> words = captions_.words(caption);
    std::fill(words_.begin(), words_.end(), MatchableWords{});
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
                    MatchableWords& pair = words_[posting.candidate];
                    pair.candidate.other |= posting.words;
                    pair.reference.other |= own;
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
                MatchableWords& pair = words_[posting.candidate];
                (other.is_synonym ? pair.candidate.synonym : pair.candidate.other) |= posting.words;
                (other.is_synonym ? pair.reference.synonym : pair.reference.other) |= own;
            }
        }
    }
}

void ReferenceBounds::mark_exact(Slice<uint32_t> words) {
    const auto key_of = [&](uint32_t word) { return captions_.facts(word).key; };
    for (const auto& [key, own] : places_by(words, key_of)) {
        for (const CandidateIndex::Posting& posting : index_.by_key_[key]) {
            words_[posting.candidate].add_exact(posting.words, own);
        }
    }
}

double ReferenceBounds::quick(size_t candidate) {
    if (is_too_long(candidate)) return kUnbounded;
    return bounds_.quick(words_[candidate], index_.sizes_[candidate], reference_);
}

double ReferenceBounds::tight(size_t candidate) {
    if (is_too_long(candidate)) return kUnbounded;
    return bounds_.tight(words_[candidate], index_.sizes_[candidate], reference_);
}

}  // namespace reelscore
