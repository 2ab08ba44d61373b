#include "meteor_align.hpp"

#include <algorithm>
#include <stdexcept>

namespace reelscore {
namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

constexpr uint32_t kNowhere = 0xFFFFFFFF;
constexpr size_t kMostBits = size_t{1} << 34;  // 2 GiB of word sets: refuse longer captions

constexpr MeteorModule kWordModules[] = {MeteorModule::exact, MeteorModule::stem,
                                         MeteorModule::synonym};

size_t count_trailing_zeros(uint64_t bits) {
    return static_cast<size_t>(__builtin_ctzll(bits));
}
uint32_t count_bits(uint64_t bits) {
    return static_cast<uint32_t>(__builtin_popcountll(bits));
}

uint32_t absolute_difference(size_t a, size_t b) {
    return static_cast<uint32_t>(a > b ? a - b : b - a);
}

// Enough bits for the numbers 0 to largest.
unsigned bits_for(uint64_t largest) {
    return largest == 0 ? 1 : 64 - static_cast<unsigned>(__builtin_clzll(largest));
}

// What a match adds to the weight of a state. METEOR searches with weights 1, 1/2, 1/2, 1/2 and
// adds them to Java ints, so a single word matched by any module but the first adds nothing.
uint64_t weight_of(MeteorModule module, uint64_t candidate_length, uint64_t reference_length) {
    if (module == MeteorModule::exact) return candidate_length + reference_length;
    return candidate_length / 2 + reference_length / 2;
}

}  // namespace

void MeteorAligner::Notes::forget_all() {
    if (++now_ == 0) {
        std::fill(notes_.begin(), notes_.end(), Note{});
        now_ = 1;
    }
}

void MeteorAligner::PhraseChains::build(Slice<PhraseOccurrence> all) {
    occurrences = all;
    first.forget_all();
    next.resize(all.size);
    for (size_t k = all.size; k-- > 0;) {
        const uint32_t phrase = all[k].phrase;
        next[k] = first.has(phrase) ? first[phrase] : kNowhere;
        first.set(phrase, static_cast<uint32_t>(k));
    }
}

void MeteorAligner::WordSets::forget_all() {
    slots.forget_all();
    bits.clear();
}

void MeteorAligner::WordSets::insert(uint32_t id, size_t position, size_t stride) {
    if (!slots.has(id)) {
        if (bits.size() + stride > kMostBits / 64) {
            throw std::length_error("METEOR: a caption is too long to align");
        }
        slots.set(id, static_cast<uint32_t>(bits.size() / stride));
        bits.resize(bits.size() + stride);
    }
    bits[slots[id] * stride + position / 64] |= Bits{1} << (position % 64);
}

MeteorAligner::MeteorAligner(const MeteorCaptions& captions,
                             std::array<bool, kMeteorModules> modules, size_t beam)
    : captions_(captions), modules_(modules), beam_size_(std::max<size_t>(beam, 1)) {
    key_sets_.slots = Notes(captions.key_count());
    stem_sets_.slots = Notes(captions.stem_count());
    synset_sets_.slots = Notes(captions.synset_count());
    candidate_phrases_.first = Notes(captions.phrase_count());
    reference_phrases_.first = Notes(captions.phrase_count());
    first_back_links_ = Notes(captions.phrase_count());
    last_back_links_ = Notes(captions.phrase_count());
    rows_of_words_ = Notes(captions.word_count());
}

void MeteorAligner::set_candidate(uint32_t caption) {
    candidate_ = captions_.words(caption);
    stride_ = std::max<size_t>(1, (candidate_.size + 63) / 64);
    for (WordSets* sets : {&key_sets_, &stem_sets_, &synset_sets_}) sets->forget_all();
    for (size_t i = 0; i < candidate_.size; ++i) {
        const WordFacts& word = captions_.facts(candidate_[i]);
        key_sets_.insert(word.key, i, stride_);
        if (uses(MeteorModule::stem)) stem_sets_.insert(word.stem, i, stride_);
        if (!uses(MeteorModule::synonym)) continue;
        for (uint32_t synset : captions_.synsets(word)) synset_sets_.insert(synset, i, stride_);
    }
    candidate_phrases_.build(captions_.phrases(caption));
}

void MeteorAligner::align(uint32_t reference) {
    reference_ = captions_.words(reference);
    reference_phrases_.build(captions_.phrases(reference));
    matches_.clear();
    propose(is_same_text());
    fix_matches();
    search();
}

bool MeteorAligner::is_same_text() const {
    return candidate_.size == reference_.size &&
           std::equal(candidate_.begin(), candidate_.end(), reference_.begin(),
                      [&](uint32_t a, uint32_t b) {
                          return captions_.facts(a).key == captions_.facts(b).key;
                      });
}

// Finds out how many matches begin at each reference word and how often each word is covered.
// The matches themselves are listed again when the search comes to them: there may be millions.
void MeteorAligner::propose(bool only_exact) {
    starts_.assign(reference_.size, Start{});
    covered_.assign(stride_, 0);
    covered_again_.assign(stride_, 0);
    propose_words(only_exact);
    const bool with_phrases = !only_exact && uses(MeteorModule::paraphrase);
    if (!with_phrases || candidate_phrases_.occurrences.size == 0 ||
        reference_phrases_.occurrences.size == 0) {
        return;
    }
    link_phrases();
    for (size_t j = 0; j < reference_.size; ++j) count_phrases(j);
}

void MeteorAligner::propose_words(bool only_exact) {
    rows_of_words_.forget_all();
    rows_.clear();
    const size_t row_size = 3 * stride_;
    for (size_t j = 0; j < reference_.size; ++j) {
        const uint32_t word = reference_[j];
        if (!rows_of_words_.has(word)) {
            rows_of_words_.set(word, static_cast<uint32_t>(rows_.size() / row_size));
            fill_row(captions_.facts(word), only_exact);
        }
        starts_[j].row = rows_of_words_[word];
        count_words(j);
    }
}

// Which candidate words match the word: by key, by stem, by synset. Words with the same key are
// left to the first module, even when that is switched off.
void MeteorAligner::fill_row(const WordFacts& word, bool only_exact) {
    if (rows_.size() + 3 * stride_ > kMostBits / 64) {
        throw std::length_error("METEOR: a caption is too long to align");
    }
    rows_.resize(rows_.size() + 3 * stride_);
    Bits* exact = rows_.data() + rows_.size() - 3 * stride_;
    Bits* stem = exact + stride_;
    Bits* synonym = stem + stride_;
    const auto unite = [&](Bits* into, const Bits* set) {
        for (size_t k = 0; set && k < stride_; ++k) into[k] |= set[k];
    };
    const Bits* same_key = key_sets_.find(word.key, stride_);
    if (uses(MeteorModule::exact)) unite(exact, same_key);
    if (only_exact) return;
    if (uses(MeteorModule::stem)) unite(stem, stem_sets_.find(word.stem, stride_));
    if (uses(MeteorModule::synonym)) {
        for (uint32_t synset : captions_.synsets(word)) {
            unite(synonym, synset_sets_.find(synset, stride_));
        }
    }
    for (size_t k = 0; same_key && k < stride_; ++k) {
        stem[k] &= ~same_key[k];
        synonym[k] &= ~same_key[k];
    }
}

void MeteorAligner::count_words(size_t j) {
    Start& start = starts_[j];
    for (size_t m = 0; m < 3; ++m) {
        const Bits* row = rows_.data() + (start.row * 3 + m) * stride_;
        for (size_t k = 0; k < stride_; ++k) {
            if (row[k] == 0) continue;
            covered_again_[k] |= covered_[k] & row[k];
            covered_[k] |= row[k];
            start.proposals += count_bits(row[k]);
            start.only = {static_cast<uint32_t>(64 * k + count_trailing_zeros(row[k])), 1,
                          static_cast<uint32_t>(j), 1, kWordModules[m]};
        }
    }
    start.coverage += start.proposals;
}

// Finds the pairs of phrases that the table connects. Forward: from a reference phrase. Backward:
// from a candidate phrase; these are chained by the reference phrase they lead to.
void MeteorAligner::link_phrases() {
    const Slice<PhraseOccurrence> reference = reference_phrases_.occurrences;
    phrase_begins_.resize(reference_.size + 1);
    for (size_t j = 0, k = 0; j <= reference_.size; ++j) {
        while (k < reference.size && reference[k].start < j) ++k;
        phrase_begins_[j] = static_cast<uint32_t>(k);
    }
    forward_targets_.clear();
    forward_begins_.clear();
    for (const PhraseOccurrence& source : reference) {
        forward_begins_.push_back(static_cast<uint32_t>(forward_targets_.size()));
        for (uint32_t target : captions_.paraphrases(source.phrase)) {
            if (candidate_phrases_.first.has(target)) forward_targets_.push_back(target);
        }
    }
    forward_begins_.push_back(static_cast<uint32_t>(forward_targets_.size()));

    back_links_.clear();
    first_back_links_.forget_all();
    last_back_links_.forget_all();
    const Slice<PhraseOccurrence> candidate = candidate_phrases_.occurrences;
    for (size_t k = 0; k < candidate.size; ++k) {
        for (uint32_t target : captions_.paraphrases(candidate[k].phrase)) {
            if (!reference_phrases_.first.has(target)) continue;
            const uint32_t link = static_cast<uint32_t>(back_links_.size());
            if (first_back_links_.has(target)) {
                back_links_[last_back_links_[target]].next = link;
            } else {
                first_back_links_.set(target, link);
            }
            last_back_links_.set(target, link);
            back_links_.push_back({static_cast<uint32_t>(k), kNowhere});
        }
    }
}

// The phrase matches that begin at reference word j, in METEOR's order: first those found from
// the reference, then those found from the candidate, in the order of the candidate.
void MeteorAligner::collect_phrase_matches(size_t j) {
    phrase_matches_.clear();
    merged_links_.clear();
    const Slice<PhraseOccurrence> candidate = candidate_phrases_.occurrences;
    for (uint32_t p = phrase_begins_[j]; p < phrase_begins_[j + 1]; ++p) {
        const PhraseOccurrence& phrase = reference_phrases_.occurrences[p];
        for (uint32_t k = forward_begins_[p]; k < forward_begins_[p + 1]; ++k) {
            uint32_t found = candidate_phrases_.first[forward_targets_[k]];
            for (; found != kNowhere; found = candidate_phrases_.next[found]) {
                phrase_matches_.push_back(
                    {candidate[found].start, candidate[found].length, phrase.length});
            }
        }
        if (!first_back_links_.has(phrase.phrase)) continue;
        uint32_t link = first_back_links_[phrase.phrase];
        for (; link != kNowhere; link = back_links_[link].next) {
            merged_links_.emplace_back(link, phrase.length);
        }
    }
    // Links are numbered in the order of the candidate; several phrases may begin at j.
    std::sort(merged_links_.begin(), merged_links_.end());
    for (const auto& [link, reference_length] : merged_links_) {
        const PhraseOccurrence& source = candidate[back_links_[link].occurrence];
        phrase_matches_.push_back({source.start, source.length, reference_length});
    }
}

void MeteorAligner::count_phrases(size_t j) {
    if (phrase_begins_[j] == phrase_begins_[j + 1]) return;
    collect_phrase_matches(j);
    Start& start = starts_[j];
    start.phrase_matches = static_cast<uint32_t>(phrase_matches_.size());
    start.proposals += start.phrase_matches;
    for (const PhraseMatch& match : phrase_matches_) {
        for (size_t k = 0; k < match.reference_length; ++k) ++starts_[j + k].coverage;
        cover_candidate(match.candidate_start, match.candidate_length);
        start.only = {match.candidate_start, match.candidate_length, static_cast<uint32_t>(j),
                      match.reference_length, MeteorModule::paraphrase};
    }
}

void MeteorAligner::cover_candidate(size_t start, size_t length) {
    for (size_t i = start; i < start + length; ++i) {
        const Bits bit = Bits{1} << (i % 64);
        covered_again_[i / 64] |= covered_[i / 64] & bit;
        covered_[i / 64] |= bit;
    }
}

bool MeteorAligner::is_covered_once(const MeteorMatch& match) const {
    for (size_t k = 0; k < match.reference_length; ++k) {
        if (starts_[match.reference_start + k].coverage != 1) return false;
    }
    for (size_t k = 0; k < match.candidate_length; ++k) {
        const size_t i = match.candidate_start + k;
        if (covered_again_[i / 64] >> (i % 64) & 1) return false;
    }
    return true;
}

// Matches without any rival are taken before the search.
void MeteorAligner::fix_matches() {
    used_.assign(stride_ * beam_size_, 0);
    for (Start& start : starts_) {
        if (start.proposals != 1 || !is_covered_once(start.only)) continue;
        start.is_fixed = true;
        for (size_t k = 0; k < start.only.reference_length; ++k) {
            starts_[start.only.reference_start + k].is_covered_by_fixed = true;
        }
        for (size_t k = 0; k < start.only.candidate_length; ++k) {
            const size_t i = start.only.candidate_start + k;
            used_[i / 64] |= Bits{1} << (i % 64);
        }
    }
}

MeteorAligner::KeyLayout MeteorAligner::layout_keys() const {
    uint64_t all = 0, most = 0;
    for (const Start& start : starts_) {
        all += start.proposals;
        most = std::max<uint64_t>(most, start.proposals);
    }
    const uint64_t words = candidate_.size + reference_.size;
    KeyLayout layout;
    layout.initial_weight = words;  // no state can gain more than that
    layout.distance_shift = bits_for(beam_size_ * (most + 1));
    layout.chunk_shift = layout.distance_shift + bits_for(all * words);
    layout.weight_shift = layout.chunk_shift + bits_for(reference_.size + 1);
    layout.bits = layout.weight_shift + bits_for(words);
    return layout;
}

void MeteorAligner::search() {
    steps_.clear();
    layout_ = layout_keys();
    if (layout_.bits <= 64) {
        search_with(beam_of_short_);
    } else if (layout_.bits <= 128) {
        search_with(beam_of_long_);
    } else {
        throw std::length_error("METEOR: a caption is too long to align");
    }
}

template <typename Key>
void MeteorAligner::search_with(Beam<Key>& beam) {
    const Key initial = Key{layout_.initial_weight} << layout_.weight_shift;
    beam.states.assign(1, State<Key>{initial, kNowhere, 0, kNowhere, 0});
    for (size_t j = 0; j < reference_.size; ++j) {
        if (starts_[j].proposals == 0 || starts_[j].is_covered_by_fixed) {
            advance_without_choice(beam, j);
        } else {
            expand(beam, j);
        }
    }
    const Key one_chunk = Key{1} << layout_.chunk_shift;
    const State<Key>* best = nullptr;
    for (State<Key>& state : beam.states) {
        if (state.last != kNowhere) state.key += one_chunk;
        if (!best || state.key < best->key) best = &state;
    }
    trace_back(best->history);
}

// All states do the same at j: take the match that was fixed there, or skip the word.
template <typename Key>
void MeteorAligner::advance_without_choice(Beam<Key>& beam, size_t j) const {
    const Start& start = starts_[j];
    const MeteorMatch& match = start.only;
    const Key one_chunk = Key{1} << layout_.chunk_shift;
    Key change = 0;
    uint32_t match_start = kNowhere, last = kNowhere, next = static_cast<uint32_t>(j) + 1;
    if (start.is_fixed) {
        match_start = match.candidate_start;
        last = match_start + match.candidate_length;
        next = static_cast<uint32_t>(j) + match.reference_length;
        change = (Key{absolute_difference(j, match_start)} << layout_.distance_shift) -
                 (Key{weight_of(match.module, match.candidate_length, match.reference_length)}
                  << layout_.weight_shift);
    }
    std::vector<State<Key>>& states = beam.states;
    for (size_t k = 0; k < states.size(); ++k) {
        State<Key> state = states[k];
        if (j >= state.next) {  // otherwise word j lies inside a match
            state.key += change;
            if (state.last != kNowhere && state.last != match_start) state.key += one_chunk;
            state.last = last;
            state.next = next;
        }
        // The states stay in order but for a few; this keeps the sort stable.
        size_t place = k;
        for (; place > 0 && state.key < states[place - 1].key; --place) {
            states[place] = states[place - 1];
        }
        states[place] = state;
    }
}

template <typename Key>
void MeteorAligner::expand(Beam<Key>& beam, size_t j) {
    if (starts_[j].phrase_matches > 0) {
        collect_phrase_matches(j);
    } else {
        phrase_matches_.clear();
    }
    successors_.clear();
    beam.keys.clear();
    beam.worst = ~Key{0};
    for (uint32_t parent = 0; parent < beam.states.size(); ++parent) {
        expand_state(beam, j, parent);
    }
    keep_best(beam);
    std::sort(beam.keys.begin(), beam.keys.end());
    make_states(beam, j);
}

template <typename Key>
void MeteorAligner::expand_state(Beam<Key>& beam, size_t j, uint32_t parent) {
    State<Key> state = beam.states[parent];
    if (j < state.next) {  // word j lies inside a match
        return append_successor(beam, state.key,
                                {parent, state.last, state.next, 0, 0, MeteorModule::exact});
    }
    const Bits* used = used_.data() + state.used * stride_;
    for (size_t m = 0; m < 3; ++m) {
        const Bits* row = rows_.data() + (starts_[j].row * 3 + m) * stride_;
        for (size_t k = 0; k < stride_; ++k) {
            for (Bits free = row[k] & ~used[k]; free != 0; free &= free - 1) {
                const uint32_t i = static_cast<uint32_t>(64 * k + count_trailing_zeros(free));
                append_match(beam, state, parent, j, {i, 1, 1}, kWordModules[m]);
            }
        }
    }
    for (const PhraseMatch& match : phrase_matches_) {
        bool free = is_free(state.used, match.candidate_start, match.candidate_length);
        for (size_t k = 1; free && k < match.reference_length; ++k) {
            free = !starts_[j + k].is_covered_by_fixed;
        }
        if (free) append_match(beam, state, parent, j, match, MeteorModule::paraphrase);
    }
    // Last, the state that leaves word j unmatched.
    if (state.last != kNowhere) state.key += Key{1} << layout_.chunk_shift;
    append_successor(beam, state.key,
                     {parent, kNowhere, static_cast<uint32_t>(j) + 1, 0, 0, MeteorModule::exact});
}

bool MeteorAligner::is_free(size_t used_slot, size_t start, size_t length) const {
    const Bits* used = used_.data() + used_slot * stride_;
    for (size_t i = start; i < start + length; ++i) {
        if (used[i / 64] >> (i % 64) & 1) return false;
    }
    return true;
}

// METEOR adds the distance of a match to the state it started from instead of the new one, so a
// state carries the distances of its elder siblings but not its own. Results depend on it.
template <typename Key>
void MeteorAligner::append_match(Beam<Key>& beam, State<Key>& state, uint32_t parent, size_t j,
                                 PhraseMatch match, MeteorModule module) {
    Key key = state.key - (Key{weight_of(module, match.candidate_length, match.reference_length)}
                           << layout_.weight_shift);
    if (state.last != kNowhere && state.last != match.candidate_start) {
        key += Key{1} << layout_.chunk_shift;
    }
    append_successor(beam, key,
                     {parent, match.candidate_start + match.candidate_length,
                      static_cast<uint32_t>(j) + match.reference_length, match.candidate_start,
                      match.candidate_length, module});
    state.key += Key{absolute_difference(j, match.candidate_start)} << layout_.distance_shift;
}

template <typename Key>
void MeteorAligner::append_successor(Beam<Key>& beam, Key key, const Successor& successor) {
    key |= Key{successors_.size()};
    if (key >= beam.worst) return;
    beam.keys.push_back(key);
    successors_.push_back(successor);
    if (beam.keys.size() >= 4 * beam_size_) keep_best(beam);
}

template <typename Key>
void MeteorAligner::keep_best(Beam<Key>& beam) const {
    if (beam.keys.size() <= beam_size_) return;
    const auto end = beam.keys.begin() + static_cast<std::ptrdiff_t>(beam_size_);
    std::nth_element(beam.keys.begin(), end - 1, beam.keys.end());
    beam.keys.erase(end, beam.keys.end());
    beam.worst = beam.keys.back();
}

template <typename Key>
void MeteorAligner::make_states(Beam<Key>& beam, size_t j) {
    const Key order_mask = (Key{1} << layout_.distance_shift) - 1;
    beam.new_states.clear();
    new_used_.resize(stride_ * beam_size_);
    for (Key key : beam.keys) {
        const Successor& chosen = successors_[static_cast<size_t>(key & order_mask)];
        const State<Key>& parent = beam.states[chosen.parent];
        State<Key> state{key & ~order_mask, chosen.last, chosen.next, parent.history,
                         static_cast<uint32_t>(beam.new_states.size())};
        Bits* used = new_used_.data() + state.used * stride_;
        std::copy_n(used_.data() + parent.used * stride_, stride_, used);
        if (chosen.candidate_length > 0) {
            const size_t end = size_t{chosen.candidate_start} + chosen.candidate_length;
            for (size_t i = chosen.candidate_start; i < end; ++i) {
                used[i / 64] |= Bits{1} << (i % 64);
            }
            state.history = static_cast<uint32_t>(steps_.size());
            steps_.push_back(
                {{chosen.candidate_start, chosen.candidate_length, static_cast<uint32_t>(j),
                  chosen.next - static_cast<uint32_t>(j), chosen.module},
                 parent.history});
        }
        beam.new_states.push_back(state);
    }
    beam.states.swap(beam.new_states);
    used_.swap(new_used_);
}

void MeteorAligner::trace_back(uint32_t history) {
    for (; history != kNowhere; history = steps_[history].previous) {
        matches_.push_back(steps_[history].match);
    }
    for (const Start& start : starts_) {
        if (start.is_fixed) matches_.push_back(start.only);
    }
    std::sort(matches_.begin(), matches_.end(), [](const MeteorMatch& a, const MeteorMatch& b) {
        return a.reference_start < b.reference_start;
    });
}

// Runs of matches that are contiguous on both sides.
uint32_t MeteorAligner::chunks() const {
    uint32_t chunks = 0;
    const MeteorMatch* before = nullptr;
    for (const MeteorMatch& match : matches_) {
        const bool continues =
            before && match.candidate_start == before->candidate_start + before->candidate_length &&
            match.reference_start == before->reference_start + before->reference_length;
        chunks += !continues;
        before = &match;
    }
    return chunks;
}

}  // namespace reelscore
