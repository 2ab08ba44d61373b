// The beam search of MeteorAligner.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "meteor_align.hpp"

namespace reelscore {
namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

constexpr uint32_t kExactWeight = 2;  // of a word matched exactly: one for each side

uint32_t absolute_difference(size_t a, size_t b) {
    return static_cast<uint32_t>(a > b ? a - b : b - a);
}

// What a match adds to the weight of a state. METEOR searches with weights 1, 1/2, 1/2, 1/2 and
// adds them to Java ints, so a single word matched by any module but the first adds nothing.
uint64_t weight_of(const MeteorMatch& match) {
    const uint64_t candidate_length = match.candidate_length;
    if (match.module == MeteorModule::exact) return kExactWeight;
    return candidate_length / 2 + match.reference_length / 2;
}

}  // namespace

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
    layout.bits = layout.weight_shift + bits_for(words) + 2;  // two more for sums with lags
    return layout;
}

// States that lag too far behind the best one cannot win any more. From any word on, a state gains
// at most the heaviest match at each word, and the best one gains at least an exact match wherever
// earlier words cannot have used up the candidate words of that key. As for chunks, each word makes
// a difference of one at most, and of none where all states have ended their matches alike.
//
// Such states are dropped. Others, which METEOR's beam would have lost to them, may then survive:
// these are even further behind, so they do not win either.
void MeteorAligner::bound_lags() {
    lags_.assign(reference_.size, Lag{0, 0, 0});
    exact_seen_.assign(candidate_.size, 0);
    for (size_t j = 0; j < reference_.size; ++j) {
        const Bits exact = rows_[starts_[j].row * 3];
        if (!is_open(starts_[j]) || exact == 0) continue;
        const uint32_t earlier = exact_seen_[lowest_bit(exact)]++;
        const bool is_certain = earlier < count_bits(exact & ~covered_otherwise_);
        if (is_certain && !starts_[j].is_inside_phrase) lags_[j].gain = kExactWeight;
    }
    const uint32_t most = static_cast<uint32_t>(candidate_.size + reference_.size);
    uint32_t weight = 0, chunks = 0;
    for (size_t j = reference_.size; j-- > 0;) {
        const Start& start = starts_[j];
        // May states differ in whether they end a chunk at the next word, or at the end?
        const bool is_gap = start.coverage == 0;
        const bool is_next_open = j + 1 < reference_.size && is_open(starts_[j + 1]);
        chunks += !is_gap && (is_next_open || !start.is_fixed);
        lags_[j].weight = std::min(weight, most);
        lags_[j].chunks = chunks + (j > 0 && starts_[j - 1].coverage > 0);
        if (!is_open(start)) continue;
        const uint32_t exact = rows_[start.row * 3] != 0 ? kExactWeight : 0;
        weight += std::max(exact, start.phrase_weight) - lags_[j].gain;
    }
}

void MeteorAligner::search() {
    steps_.clear();
    found_.clear();
    layout_ = layout_keys();
    if (layout_.bits <= 64 && stride_ == 1) {
        bound_lags();
        search_with<uint64_t, true>(beam_of_short_);
    } else if (layout_.bits <= 64) {
        search_with<uint64_t, false>(beam_of_short_);
    } else if (layout_.bits <= 128) {
        search_with<Wide, false>(beam_of_long_);
    } else {
        throw std::length_error("METEOR: a caption is too long to align");
    }
}

template <typename Key, bool kOneWord>
void MeteorAligner::search_with(Beam<Key>& beam) {
    const Key initial = Key{layout_.initial_weight} << layout_.weight_shift;
    beam.states.assign(1, State<Key>{initial, kOneWord ? used_[0] : 0, kNowhere, 0, kNowhere});
    beam.is_alike = true;
    beam.last = kNowhere;
    beam.next = 0;
    size_t open = reference_.size;  // words from here on offer no choice
    while (open > 0 && !is_open(starts_[open - 1])) --open;
    for (size_t j = 0; j < open; ++j) {
        if (starts_[j].is_fixed) {
            take_fixed_match(beam, j);
        } else if (!is_open(starts_[j])) {
            skip_word(beam, j);
        } else {
            expand<Key, kOneWord>(beam, j);
            if (j + 1 < open) make_states<Key, kOneWord>(beam, j);
        }
    }
    trace_back(open == 0 ? kNowhere : best_history(beam, open - 1));
}

// The states are in order but for the one at k; moves it forward. Doing so for one k after the
// other is a stable sort, quick because few states change places.
template <typename State>
void sort_in(State* states, size_t k) {
    if (k == 0 || !(states[k].key < states[k - 1].key)) return;
    const State state = states[k];
    for (; k > 0 && state.key < states[k - 1].key; --k) states[k] = states[k - 1];
    states[k] = state;
}

// What the match weighs and its distance are the same for all states, and so left out.
template <typename Key>
void MeteorAligner::take_fixed_match(Beam<Key>& beam, size_t j) const {
    const MeteorMatch& match = starts_[j].only;
    const Key one_chunk = Key{1} << layout_.chunk_shift;
    State<Key>* const states = beam.states.data();
    const size_t count = beam.is_alike ? 0 : beam.states.size();
    for (size_t k = 0; k < count; ++k) {
        State<Key>& state = states[k];
        if (state.last != kNowhere && state.last != match.candidate_start) state.key += one_chunk;
        sort_in(states, k);
    }
    beam.is_alike = true;
    beam.last = match.candidate_start + match.candidate_length;
    beam.next = static_cast<uint32_t>(j) + match.reference_length;
}

// Nothing can be matched at j; states whose last match covers it are not concerned.
template <typename Key>
void MeteorAligner::skip_word(Beam<Key>& beam, size_t j) const {
    if (beam.is_alike) {
        if (j >= beam.next) beam.last = kNowhere;
        return;
    }
    const Key one_chunk = Key{1} << layout_.chunk_shift;
    beam.is_alike = true;
    beam.last = kNowhere;
    State<Key>* const states = beam.states.data();
    const size_t count = beam.states.size();
    for (size_t k = 0; k < count; ++k) {
        State<Key>& state = states[k];
        if (j < state.next) {
            beam.is_alike = false;
        } else if (state.last != kNowhere) {
            state.key += one_chunk;
            state.last = kNowhere;
        }
        sort_in(states, k);
    }
}

// Lists the best new states after word j. METEOR adds the distance of a match to the state it
// starts from instead of the new one, so a state carries the distances of its elder siblings but
// not its own. Results depend on it. States are taken option by option, which gives keys nearly in
// order, those of skipping the word last.
template <typename Key, bool kOneWord>
void MeteorAligner::expand(Beam<Key>& beam, size_t j) {
    list_options(beam, j);
    const size_t options = beam.options.size(), count = beam.states.size();
    BestKeys<Key> best = std::move(beam.best);  // a local one stays in registers
    best.clear(beam_size_, kOneWord ? hopeless(beam, j) : ~Key{0});
    beam.parents.resize(count);
    State<Key>* const states = beam.states.data();
    Parent<Key>* const parents = beam.parents.data();
    for (size_t p = 0; p < count; ++p) {
        State<Key>& state = states[p];
        if (beam.is_alike) state.last = beam.last;
        parents[p].key = state.key + (Key{p} << layout_.parent_shift);
        const bool is_inside = j < state.next;  // of a match
        parents[p].one_chunk = Key{state.last != kNowhere && !is_inside} << layout_.chunk_shift;
    }
    for (size_t k = 0; k < options; ++k) {
        const Option<Key> option = beam.options[k];
        for (size_t p = 0; p < count; ++p) {
            const State<Key>& state = states[p];
            if (kOneWord ? (state.used & option.words) != 0 : !is_free(state, option)) continue;
            if (j < state.next) continue;
            Parent<Key>& parent = parents[p];
            const Key chunk = state.last == option.candidate_start ? Key{0} : parent.one_chunk;
            best.insert(parent.key + k - option.weight + chunk);
            parent.key += option.distance;
        }
    }
    for (size_t p = 0; p < count; ++p) best.insert(parents[p].key + options + parents[p].one_chunk);
    beam.best = std::move(best);
    beam.is_alike = false;
}

// New states at word j are hopeless from this key on.
template <typename Key>
Key MeteorAligner::hopeless(const Beam<Key>& beam, size_t j) const {
    const Lag& lag = lags_[j];
    return beam.states[0].key + (Key{lag.weight} << layout_.weight_shift) -
           (Key{lag.gain} << layout_.weight_shift) + (Key{lag.chunks} << layout_.chunk_shift) +
           (Key{1} << layout_.distance_shift);
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
void MeteorAligner::add_option(Beam<Key>& beam, const MeteorMatch& match) {
    const uint32_t end = match.candidate_start + match.candidate_length;
    const Key distance{absolute_difference(match.reference_start, match.candidate_start)};
    Option<Key> option{Key{weight_of(match)} << layout_.weight_shift,
                       distance << layout_.distance_shift,
                       0,
                       match.candidate_start,
                       end,
                       match.reference_start + match.reference_length,
                       static_cast<uint32_t>(found_.size())};
    if (stride_ == 1) {
        for (size_t i = match.candidate_start; i < end; ++i) option.words |= Bits{1} << i;
    }
    beam.options.push_back(option);
    found_.push_back(match);
}

template <typename Key>
bool MeteorAligner::is_free(const State<Key>& state, const Option<Key>& option) const {
    const Bits* used = used_.data() + state.used * stride_;
    for (size_t i = option.candidate_start; i < option.candidate_end; ++i) {
        if (used[i / 64] >> (i % 64) & 1) return false;
    }
    return true;
}

// For long candidates: the new state's set of used words, in its own slot.
template <typename Key>
void MeteorAligner::copy_used_words(State<Key>& state, size_t slot, const Option<Key>* option) {
    Bits* used = new_used_.data() + slot * stride_;
    std::copy_n(used_.data() + state.used * stride_, stride_, used);
    state.used = slot;
    if (option == nullptr) return;
    for (size_t i = option->candidate_start; i < option->candidate_end; ++i) {
        used[i / 64] |= Bits{1} << (i % 64);
    }
}

template <typename Key, bool kOneWord>
void MeteorAligner::make_states(Beam<Key>& beam, size_t j) {
    const Key order_mask = (Key{1} << layout_.distance_shift) - 1;
    const size_t option_mask = (size_t{1} << layout_.parent_shift) - 1;
    const size_t options = beam.options.size(), count = beam.best.size();
    const Key* const keys = beam.best.begin();
    const State<Key>* const parents = beam.states.data();
    beam.new_states.resize(count);
    State<Key>* const states = beam.new_states.data();
    if (!kOneWord) new_used_.resize(stride_ * beam_size_);
    for (size_t k = 0; k < count; ++k) {
        const size_t order = static_cast<size_t>(keys[k] & order_mask);
        const size_t chosen = order & option_mask;
        State<Key> state = parents[order >> layout_.parent_shift];
        state.key = keys[k] & ~order_mask;
        const Option<Key>* option = nullptr;
        if (chosen < options) {
            option = &beam.options[chosen];
            state.last = option->candidate_end;
            state.next = option->reference_end;
            steps_.push_back({option->match, state.history});
            state.history = static_cast<uint32_t>(steps_.size() - 1);
            if (kOneWord) state.used |= option->words;
        } else if (j >= state.next) {
            state.last = kNowhere;
        }
        if (!kOneWord) copy_used_words(state, k, option);
        states[k] = state;
    }
    beam.states.swap(beam.new_states);
    if (!kOneWord) used_.swap(new_used_);
}

// The newest step of the best state after word j, the last one that offers a choice: from there on
// states only differ in whether the next fixed match continues their chunk. Of equals that one is
// the best whose chunk ends last, as it is ahead of the others before.
template <typename Key>
uint32_t MeteorAligner::best_history(Beam<Key>& beam, size_t j) {
    const Key order_mask = (Key{1} << layout_.distance_shift) - 1;
    const size_t option_mask = (size_t{1} << layout_.parent_shift) - 1;
    Key best_key = ~Key{0}, best_before = 0;
    size_t best = 0, best_next = 0;
    const Key* const keys = beam.best.begin();
    for (size_t k = 0; k < beam.best.size(); ++k) {
        const size_t order = static_cast<size_t>(keys[k] & order_mask);
        const size_t chosen = order & option_mask;
        const State<Key>& parent = beam.states[order >> layout_.parent_shift];
        uint32_t last = j < parent.next ? parent.last : kNowhere, next = parent.next;
        if (chosen < beam.options.size()) {
            last = beam.options[chosen].candidate_end;
            next = beam.options[chosen].reference_end;
        }
        const bool continues = next < reference_.size && starts_[next].is_fixed &&
                               starts_[next].only.candidate_start == last;
        const bool ends_chunk = last != kNowhere && !continues;
        const Key before = keys[k] & ~order_mask;
        const Key key = before + (Key{ends_chunk} << layout_.chunk_shift);
        if (key < best_key || (key == best_key && before == best_before && next > best_next)) {
            best_key = key;
            best_before = before;
            best_next = ends_chunk ? next : reference_.size;
            best = order;
        }
    }
    const uint32_t history = beam.states[best >> layout_.parent_shift].history;
    const size_t chosen = best & option_mask;
    if (chosen >= beam.options.size()) return history;
    steps_.push_back({beam.options[chosen].match, history});
    return static_cast<uint32_t>(steps_.size() - 1);
}

void MeteorAligner::trace_back(uint32_t history) {
    for (; history != kNowhere; history = steps_[history].previous) {
        matches_.push_back(found_[steps_[history].match]);
    }
    for (const Start& start : starts_) {
        if (start.is_fixed) matches_.push_back(start.only);
    }
    std::sort(matches_.begin(), matches_.end(), [](const MeteorMatch& a, const MeteorMatch& b) {
        return a.reference_start < b.reference_start;
    });
}

}  // namespace reelscore
