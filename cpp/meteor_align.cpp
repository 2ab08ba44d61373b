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

uint32_t absolute_difference(size_t a, size_t b) {
    return static_cast<uint32_t>(a > b ? a - b : b - a);
}

// Between equal texts METEOR only runs the first of its modules.
void keep_first(std::array<bool, kMeteorModules>& modules) {
    const auto first = std::find(modules.begin(), modules.end(), true);
    if (first != modules.end()) std::fill(first + 1, modules.end(), false);
}

// What a match adds to the weight of a state. METEOR searches with weights 1, 1/2, 1/2, 1/2 and
// adds them to Java ints, so a single word matched by any module but the first adds nothing.
uint64_t weight_of(const MeteorMatch& match) {
    const uint64_t candidate_length = match.candidate_length;
    if (match.module == MeteorModule::exact) return candidate_length + match.reference_length;
    return candidate_length / 2 + match.reference_length / 2;
}

}  // namespace

void MeteorAligner::Notes::forget_all() {
    if (++now_ == 0) {
        std::fill(notes_.begin(), notes_.end(), Note{});
        now_ = 1;
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
    first_occurrences_ = Notes(captions.phrase_count());
    forward_ = Notes(captions.phrase_count());
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
        if (is_on(MeteorModule::stem)) stem_sets_.insert(word.stem, i, stride_);
        if (!is_on(MeteorModule::synonym)) continue;
        for (uint32_t synset : captions_.synsets(word)) synset_sets_.insert(synset, i, stride_);
    }
    candidate_phrases_ = captions_.phrases(caption);
    link_candidate_phrases();
}

void MeteorAligner::align(uint32_t reference) {
    reference_ = captions_.words(reference);
    reference_phrases_ = captions_.phrases(reference);
    matches_.clear();
    in_use_ = modules_;
    if (is_same_text()) keep_first(in_use_);
    propose();
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
void MeteorAligner::propose() {
    starts_.assign(reference_.size, Start{});
    covered_.assign(stride_, 0);
    covered_again_.assign(stride_, 0);
    propose_words();
    if (!uses(MeteorModule::paraphrase)) return;
    find_linked_phrases();
    if (linked_phrases_.empty()) return;
    for (size_t j = 0; j < reference_.size; ++j) count_phrases(j);
}

void MeteorAligner::propose_words() {
    rows_of_words_.forget_all();
    rows_.clear();
    const size_t row_size = 3 * stride_;
    for (size_t j = 0; j < reference_.size; ++j) {
        const uint32_t word = reference_[j];
        if (!rows_of_words_.has(word)) {
            rows_of_words_.set(word, static_cast<uint32_t>(rows_.size() / row_size));
            fill_row(captions_.facts(word));
        }
        starts_[j].row = rows_of_words_[word];
        count_words(j);
    }
}

// Which candidate words match the word: by key, by stem, by synset. Words with the same key are
// left to the first module, even when that is switched off.
void MeteorAligner::fill_row(const WordFacts& word) {
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
            start.only = {static_cast<uint32_t>(64 * k + lowest_bit(row[k])), 1,
                          static_cast<uint32_t>(j), 1, kWordModules[m]};
        }
    }
    start.coverage += start.proposals;
}

// Notes which phrases the table connects with phrases of the candidate. Forward: phrases that
// have a paraphrase in the candidate. Backward: paraphrases of what stands in the candidate.
void MeteorAligner::link_candidate_phrases() {
    for (Notes* notes : {&first_occurrences_, &forward_, &first_back_links_, &last_back_links_}) {
        notes->forget_all();
    }
    next_occurrences_.resize(candidate_phrases_.size);
    back_links_.clear();
    for (size_t k = candidate_phrases_.size; k-- > 0;) {
        const uint32_t phrase = candidate_phrases_[k].phrase;
        const bool is_last = !first_occurrences_.has(phrase);
        next_occurrences_[k] = is_last ? kNowhere : first_occurrences_[phrase];
        first_occurrences_.set(phrase, static_cast<uint32_t>(k));
        if (!is_last) continue;
        for (uint32_t source : captions_.sources(phrase)) forward_.set(source, 1);
    }
    for (size_t k = 0; k < candidate_phrases_.size; ++k) {
        for (uint32_t target : captions_.paraphrases(candidate_phrases_[k].phrase)) {
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

void MeteorAligner::find_linked_phrases() {
    linked_phrases_.clear();
    for (const PhraseOccurrence& phrase : reference_phrases_) {
        if (forward_.has(phrase.phrase) || first_back_links_.has(phrase.phrase)) {
            linked_phrases_.push_back(phrase);
        }
    }
    linked_begins_.resize(reference_.size + 1);
    for (size_t j = 0, k = 0; j <= reference_.size; ++j) {
        while (k < linked_phrases_.size() && linked_phrases_[k].start < j) ++k;
        linked_begins_[j] = static_cast<uint32_t>(k);
    }
}

// The phrase matches that begin at reference word j, in METEOR's order: first those found from
// the reference, then those found from the candidate, in the order of the candidate.
void MeteorAligner::collect_phrase_matches(size_t j) {
    phrase_matches_.clear();
    merged_links_.clear();
    for (uint32_t p = linked_begins_[j]; p < linked_begins_[j + 1]; ++p) {
        const PhraseOccurrence& phrase = linked_phrases_[p];
        if (forward_.has(phrase.phrase)) collect_forward(phrase);
        if (!first_back_links_.has(phrase.phrase)) continue;
        uint32_t link = first_back_links_[phrase.phrase];
        for (; link != kNowhere; link = back_links_[link].next) {
            merged_links_.emplace_back(link, phrase.length);
        }
    }
    // Links are numbered in the order of the candidate; several phrases may begin at j.
    std::sort(merged_links_.begin(), merged_links_.end());
    for (const auto& [link, reference_length] : merged_links_) {
        const PhraseOccurrence& source = candidate_phrases_[back_links_[link].occurrence];
        phrase_matches_.push_back({source.start, source.length, reference_length});
    }
}

// Matches of a reference phrase with its paraphrases in the candidate.
void MeteorAligner::collect_forward(const PhraseOccurrence& phrase) {
    for (uint32_t target : captions_.paraphrases(phrase.phrase)) {
        if (!first_occurrences_.has(target)) continue;
        uint32_t found = first_occurrences_[target];
        for (; found != kNowhere; found = next_occurrences_[found]) {
            phrase_matches_.push_back(
                {candidate_phrases_[found].start, candidate_phrases_[found].length, phrase.length});
        }
    }
}

void MeteorAligner::count_phrases(size_t j) {
    if (linked_begins_[j] == linked_begins_[j + 1]) return;
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
    layout.parent_shift = bits_for(most);
    layout.distance_shift = layout.parent_shift + bits_for(beam_size_);
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
    const Bits used = stride_ == 1 ? used_[0] : 0;
    beam.states.assign(1, State<Key>{initial, kNowhere, 0, kNowhere, used});
    beam.is_at_gap = true;
    for (size_t j = 0; j < reference_.size; ++j) {
        const Start& start = starts_[j];
        if (start.is_fixed) {
            take_fixed_match(beam, j);
        } else if (start.proposals == 0 || start.is_covered_by_fixed) {
            skip_word(beam, j);
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

// The states are in order but for the one at k; moves it forward. Doing so for one k after the
// other is a stable sort, quick because few states change places.
template <typename State>
void sort_in(std::vector<State>& states, size_t k) {
    if (k == 0 || !(states[k].key < states[k - 1].key)) return;
    const State state = states[k];
    for (; k > 0 && state.key < states[k - 1].key; --k) states[k] = states[k - 1];
    states[k] = state;
}

template <typename Key>
void MeteorAligner::take_fixed_match(Beam<Key>& beam, size_t j) const {
    const MeteorMatch& match = starts_[j].only;
    const Key one_chunk = Key{1} << layout_.chunk_shift;
    const Key distance = Key{absolute_difference(j, match.candidate_start)}
                         << layout_.distance_shift;
    const Key weight = Key{weight_of(match)} << layout_.weight_shift;
    for (size_t k = 0; k < beam.states.size(); ++k) {
        State<Key>& state = beam.states[k];
        state.key += distance - weight;
        if (state.last != kNowhere && state.last != match.candidate_start) state.key += one_chunk;
        state.last = match.candidate_start + match.candidate_length;
        state.next = static_cast<uint32_t>(j) + match.reference_length;
        sort_in(beam.states, k);
    }
    beam.is_at_gap = false;
}

// Nothing can be matched at j; states whose last match covers it are not concerned.
template <typename Key>
void MeteorAligner::skip_word(Beam<Key>& beam, size_t j) const {
    if (beam.is_at_gap) return;
    beam.is_at_gap = true;
    const Key one_chunk = Key{1} << layout_.chunk_shift;
    for (size_t k = 0; k < beam.states.size(); ++k) {
        State<Key>& state = beam.states[k];
        if (j < state.next) {
            beam.is_at_gap = false;
        } else if (state.last != kNowhere) {
            state.key += one_chunk;
            state.last = kNowhere;
        }
        sort_in(beam.states, k);
    }
}

template <typename Key>
void MeteorAligner::expand(Beam<Key>& beam, size_t j) {
    list_options(beam, j);
    if (beam.keys.size() < 4 * beam_size_) beam.keys.resize(4 * beam_size_);
    beam.key_count = 0;
    beam.worst = ~Key{0};
    for (size_t parent = 0; parent < beam.states.size(); ++parent) expand_state(beam, j, parent);
    keep_best(beam);
    std::sort(beam.keys.data(), beam.keys.data() + beam.key_count);
    make_states(beam, j);
    beam.is_at_gap = false;
}

// All matches that begin at j, in the order in which METEOR proposes them, but for those that
// would cover reference words of fixed matches.
template <typename Key>
void MeteorAligner::list_options(Beam<Key>& beam, size_t j) {
    const uint32_t start = static_cast<uint32_t>(j);
    beam.options.clear();
    for (size_t m = 0; m < 3; ++m) {
        const Bits* row = rows_.data() + (starts_[j].row * 3 + m) * stride_;
        for (size_t k = 0; k < stride_; ++k) {
            for (Bits rest = row[k]; rest != 0; rest &= rest - 1) {
                const uint32_t i = static_cast<uint32_t>(64 * k + lowest_bit(rest));
                add_option(beam, {i, 1, start, 1, kWordModules[m]});
            }
        }
    }
    if (starts_[j].phrase_matches == 0) return;
    collect_phrase_matches(j);
    for (const PhraseMatch& match : phrase_matches_) {
        bool free = true;
        for (size_t k = 1; free && k < match.reference_length; ++k) {
            free = !starts_[j + k].is_covered_by_fixed;
        }
        if (free) {
            add_option(beam, {match.candidate_start, match.candidate_length, start,
                              match.reference_length, MeteorModule::paraphrase});
        }
    }
}

template <typename Key>
void MeteorAligner::add_option(Beam<Key>& beam, const MeteorMatch& match) const {
    Option<Key> option{match, Key{weight_of(match)} << layout_.weight_shift,
                       Key{absolute_difference(match.reference_start, match.candidate_start)}
                           << layout_.distance_shift,
                       0};
    if (stride_ == 1) {
        for (size_t k = 0; k < match.candidate_length; ++k) {
            option.words |= Bits{1} << (match.candidate_start + k);
        }
    }
    beam.options.push_back(option);
}

// METEOR adds the distance of a match to the state it starts from instead of the new one, so a
// state carries the distances of its elder siblings but not its own. Results depend on it.
template <typename Key>
void MeteorAligner::expand_state(Beam<Key>& beam, size_t j, size_t parent) const {
    const State<Key>& state = beam.states[parent];
    const size_t options = beam.options.size();
    Key key = state.key + (Key{parent} << layout_.parent_shift);
    if (j < state.next) return append_key(beam, key + options);  // word j lies inside a match
    const Key one_chunk = Key{state.last != kNowhere} << layout_.chunk_shift;
    for (size_t k = 0; k < options; ++k) {
        const Option<Key>& option = beam.options[k];
        if (!is_free(state, option)) continue;
        const bool continues = state.last == option.match.candidate_start;
        append_key(beam, key + k - option.weight + (continues ? Key{0} : one_chunk));
        key += option.distance;
    }
    append_key(beam, key + options + one_chunk);
}

template <typename Key>
bool MeteorAligner::is_free(const State<Key>& state, const Option<Key>& option) const {
    if (stride_ == 1) return (state.used & option.words) == 0;
    const Bits* used = used_.data() + state.used * stride_;
    const size_t start = option.match.candidate_start;
    for (size_t i = start; i < start + option.match.candidate_length; ++i) {
        if (used[i / 64] >> (i % 64) & 1) return false;
    }
    return true;
}

template <typename Key>
void MeteorAligner::append_key(Beam<Key>& beam, Key key) const {
    if (key >= beam.worst) return;
    beam.keys[beam.key_count++] = key;
    if (beam.key_count == beam.keys.size()) keep_best(beam);
}

template <typename Key>
void MeteorAligner::keep_best(Beam<Key>& beam) const {
    if (beam.key_count <= beam_size_) return;
    Key* keys = beam.keys.data();
    std::nth_element(keys, keys + beam_size_ - 1, keys + beam.key_count);
    beam.key_count = beam_size_;
    beam.worst = keys[beam_size_ - 1];
}

// For long candidates: the new state's set of used words, in its own slot.
template <typename Key>
void MeteorAligner::copy_used_words(State<Key>& state, size_t slot, const MeteorMatch* match) {
    Bits* used = new_used_.data() + slot * stride_;
    std::copy_n(used_.data() + state.used * stride_, stride_, used);
    state.used = slot;
    for (size_t k = 0; match && k < match->candidate_length; ++k) {
        const size_t i = match->candidate_start + k;
        used[i / 64] |= Bits{1} << (i % 64);
    }
}

template <typename Key>
void MeteorAligner::make_states(Beam<Key>& beam, size_t j) {
    const Key order_mask = (Key{1} << layout_.distance_shift) - 1;
    const size_t option_mask = (size_t{1} << layout_.parent_shift) - 1;
    const size_t options = beam.options.size();
    beam.new_states.resize(beam.key_count);
    if (stride_ > 1) new_used_.resize(stride_ * beam_size_);
    for (size_t k = 0; k < beam.key_count; ++k) {
        const size_t order = static_cast<size_t>(beam.keys[k] & order_mask);
        const size_t chosen = order & option_mask;
        State<Key>& state = beam.new_states[k];
        state = beam.states[order >> layout_.parent_shift];
        state.key = beam.keys[k] & ~order_mask;
        const MeteorMatch* match = nullptr;
        if (chosen < options) {
            match = &beam.options[chosen].match;
            state.last = match->candidate_start + match->candidate_length;
            state.next = match->reference_start + match->reference_length;
            steps_.push_back({*match, state.history});
            state.history = static_cast<uint32_t>(steps_.size() - 1);
            if (stride_ == 1) state.used |= beam.options[chosen].words;
        } else if (j >= state.next) {
            state.last = kNowhere;
        }
        if (stride_ > 1) copy_used_words(state, k, match);
    }
    beam.states.swap(beam.new_states);
    if (stride_ > 1) used_.swap(new_used_);
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
