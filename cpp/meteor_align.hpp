// METEOR's choice among all possible word and phrase matches of two captions: a beam search, kept
// exactly as METEOR 1.5 does it, with its integer weights and its misplaced distances.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "matchable_words.hpp"
#include "meteor_captions.hpp"

namespace reelscore {

enum class MeteorModule : std::uint8_t { exact, stem, synonym, paraphrase };
constexpr std::size_t kMeteorModules = 4;

struct MeteorMatch {
    std::uint32_t candidate_start, candidate_length, reference_start, reference_length;
    MeteorModule module;
};

// Aligns one candidate with many references. Keeps its memory from pair to pair; one per thread.
class MeteorAligner {
  public:
    MeteorAligner(const MeteorCaptions& captions, std::array<bool, kMeteorModules> modules,
                  std::size_t beam);

    void set_candidate(std::uint32_t caption);
    // Finds out what may be matched. Throws std::length_error for captions of excessive length.
    void set_reference(std::uint32_t caption);
    // Whether the candidate has a word, in any spelling that METEOR takes for the same.
    bool has_word(std::uint32_t word) const {
        return key_sets_.slots.has(captions_.facts(word).key);
    }
    // The words of both captions that may be; neither may have more than `kMostPlaces`.
    MatchableWords matchable_words() const;
    // Sets matches() and chunks(), for the candidate and the reference that were set last.
    void align();

    const std::vector<MeteorMatch>& matches() const { return matches_; }  // by reference_start
    std::uint32_t chunks() const;

  private:
    static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;
    static constexpr MeteorModule kWordModules[] = {MeteorModule::exact, MeteorModule::stem,
                                                    MeteorModule::synonym};

    // A number per id that is forgotten all at once when the next caption comes.
    class Notes {
      public:
        explicit Notes(std::size_t size = 0) : notes_(size) {}
        void forget_all();
        bool has(std::uint32_t id) const { return notes_[id].time == now_; }
        std::uint32_t operator[](std::uint32_t id) const { return notes_[id].value; }
        void set(std::uint32_t id, std::uint32_t value) { notes_[id] = {now_, value}; }

      private:
        struct Note {
            std::uint32_t time = 0, value = 0;
        };
        std::vector<Note> notes_;
        std::uint32_t now_ = 1;
    };

    // A set of candidate words is `stride_` 64-bit words long.
    using Bits = std::uint64_t;
    struct WordSets {
        Notes slots;
        std::vector<Bits> bits;

        void forget_all();
        void insert(std::uint32_t id, std::size_t position, std::size_t stride);
        const Bits* find(std::uint32_t id, std::size_t stride) const {
            return slots.has(id) ? bits.data() + slots[id] * stride : nullptr;
        }
    };

    // A paraphrase of a phrase in the candidate.
    struct BackLink {
        std::uint32_t occurrence;  // of the source, in the candidate
        std::uint32_t next;        // the next link to the same paraphrase, or kNowhere
    };

    struct PhraseMatch {
        std::uint32_t candidate_start, candidate_length, reference_length;
    };

    // What may begin at a word of the reference.
    struct Start {
        std::uint32_t row = 0;        // which candidate words match in modules 1 to 3
        std::uint32_t proposals = 0;  // how many matches begin here
        std::uint32_t phrase_matches = 0;
        std::uint32_t coverage = 0;       // how many proposed matches cover this word
        std::uint32_t phrase_weight = 0;  // of the phrase match that weighs most
        bool is_fixed = false;            // its only match was taken before the search
        bool is_covered_by_fixed = false;
        bool is_inside_phrase = false;  // a phrase match covers it that begins before it
        MeteorMatch only{};             // the match, when there is just one
        // Where in the candidate phrase matches begin that begin here, and end that end here.
        Bits phrase_starts = 0, phrase_ends = 0;
    };

    // How far a state may lag behind the best one after a word and still overtake it; the best one
    // gains at least `gain` at the word itself.
    struct Lag {
        std::uint32_t weight, chunks, gain;
    };

    // How good a state is, in one integer, small is good: weight (inverted), chunks, distance and
    // order of creation, each in as many bits as the pair of captions needs.
    struct KeyLayout {
        unsigned parent_shift, distance_shift, chunk_shift, weight_shift, bits;
        std::uint64_t initial_weight;
    };
    template <typename Key>
    struct State {
        Key key;    // its order of creation left out
        Bits used;  // the candidate words in use: the set if one word holds it, else its slot
        std::uint32_t last;     // end of the previous match in the candidate, or kNowhere
        std::uint32_t next;     // words before this one are dealt with, inside a match
        std::uint32_t history;  // newest step, or kNowhere
    };
    struct Step {
        std::uint32_t match, previous;  // the match is one of found_
    };
    // A match that begins at the current word, and what it does to states.
    template <typename Key>
    struct Option {
        Key weight, distance;
        Bits words;  // the candidate words it covers, if one word holds the set
        std::uint32_t candidate_start, candidate_end, reference_end;
        std::uint32_t match;  // in found_
    };
    // A state of which new ones are made: its key with its number, and what a new chunk adds.
    template <typename Key>
    struct Parent {
        Key key, one_chunk;
    };
    // The best keys of new states in order. The order of creation, the lowest bits of a key, is
    // made of the parent's number and the option's, of which the last is to take none.
    template <typename Key>
    class BestKeys {
      public:
        // Keys from `worst` on are left out, and those after the best `limit`.
        void clear(std::size_t limit, Key worst) {
            if (keys_.size() <= limit) keys_.assign(limit + 1, Key{0});
            size_ = 0;
            limit_ = limit;
            worst_ = worst;
        }
        void insert(Key key) {
            if (key >= worst_) return;
            Key* place = keys_.data() + 1 + size_;
            if (size_ < limit_) {
                ++size_;
            } else {
                --place;
            }
            for (; key < place[-1]; --place) place[0] = place[-1];
            *place = key;
            if (size_ == limit_) worst_ = keys_[limit_];
        }
        const Key* begin() const { return keys_.data() + 1; }
        std::size_t size() const { return size_; }

      private:
        std::vector<Key> keys_;  // after a zero, which no key is below
        std::size_t size_ = 0, limit_ = 0;
        Key worst_{0};
    };
    template <typename Key>
    struct Beam {
        std::vector<State<Key>> states, new_states;  // the best first
        std::vector<Option<Key>> options;
        std::vector<Parent<Key>> parents;
        BestKeys<Key> best;
        // All states may have their last match end alike: it is then kept here, not in the states.
        bool is_alike = true;
        std::uint32_t last, next;
    };
    bool is_on(MeteorModule module) const { return modules_[static_cast<std::size_t>(module)]; }
    bool is_open(const Start& start) const {
        return start.proposals > 0 && !start.is_fixed && !start.is_covered_by_fixed;
    }
    bool uses(MeteorModule module) const { return in_use_[static_cast<std::size_t>(module)]; }
    bool is_same_text() const;
    void propose();
    void forget_rows();
    void propose_words();
    void fill_row(const WordFacts& word);
    void link_candidate_phrases();
    void find_linked_phrases();
    void collect_phrase_matches(std::size_t j);
    void collect_forward(const PhraseOccurrence& phrase);
    void cover_candidate(std::size_t start, std::size_t length);
    void count_words(std::size_t j);
    void count_phrases(std::size_t j);
    bool is_covered_once(const MeteorMatch& match) const;
    void fix_matches();
    KeyLayout layout_keys() const;
    void bound_lags();
    void search();
    template <typename Key, bool kOneWord>
    void search_with(Beam<Key>& beam);
    template <typename Key>
    void take_fixed_match(Beam<Key>& beam, std::size_t j) const;
    template <typename Key>
    void skip_word(Beam<Key>& beam, std::size_t j) const;
    template <typename Key, bool kOneWord>
    void expand(Beam<Key>& beam, std::size_t j);
    template <typename Key>
    Key hopeless(const Beam<Key>& beam, std::size_t j) const;
    template <typename Key>
    void list_options(Beam<Key>& beam, std::size_t j);
    template <typename Key>
    void add_option(Beam<Key>& beam, const MeteorMatch& match);
    template <typename Key>
    bool is_free(const State<Key>& state, const Option<Key>& option) const;
    template <typename Key, bool kOneWord>
    void make_states(Beam<Key>& beam, std::size_t j);
    template <typename Key>
    void copy_used_words(State<Key>& state, std::size_t slot, const Option<Key>* option);
    template <typename Key>
    std::uint32_t best_history(Beam<Key>& beam, std::size_t j);
    void trace_back(std::uint32_t history);

    const MeteorCaptions& captions_;
    std::array<bool, kMeteorModules> modules_;
    std::array<bool, kMeteorModules> in_use_{};  // for the current pair
    std::size_t beam_size_;

    Slice<std::uint32_t> candidate_, reference_;
    std::size_t stride_ = 1;
    WordSets key_sets_, stem_sets_, synset_sets_;  // candidate words by key, stem and synset
    Slice<PhraseOccurrence> candidate_phrases_, reference_phrases_;
    Notes rows_of_words_;

    std::vector<Start> starts_;
    std::vector<Bits> rows_;                     // three sets for each distinct word of references
    std::vector<Bits> covered_, covered_again_;  // candidate words covered once, more than once

    // Occurrences of a phrase in the candidate: the first one, and a chain in ascending order.
    Notes first_occurrences_;
    std::vector<std::uint32_t> next_occurrences_;
    Notes forward_;  // phrases with a paraphrase in the candidate
    std::vector<BackLink> back_links_;
    Notes first_back_links_, last_back_links_;      // by paraphrase
    std::vector<PhraseOccurrence> linked_phrases_;  // of the reference, that any link concerns
    std::vector<std::uint32_t> linked_begins_;      // first of them at or after each word
    std::vector<PhraseMatch> phrase_matches_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> merged_links_;

    Bits covered_otherwise_ = 0;             // candidate words of inexact matches, if in one word
    Bits in_phrases_ = 0;                    // of those, the words of phrases
    Bits not_last_in_phrases_ = 0;           // of those, all but the last of a phrase match
    std::vector<Lag> lags_;                  // by reference word
    std::vector<std::uint32_t> exact_seen_;  // by first candidate word of the same key
    KeyLayout layout_{};
    Beam<std::uint64_t> beam_of_short_;
    Beam<Wide> beam_of_long_;
    std::vector<Bits> used_, new_used_;
    std::vector<MeteorMatch> found_;  // matches the search has come across
    std::vector<Step> steps_;
    std::vector<MeteorMatch> matches_;
};

}  // namespace reelscore
