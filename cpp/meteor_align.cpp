#include "meteor_align.hpp"

#include <algorithm>
#include <stdexcept>

namespace reelscore {
namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

constexpr size_t kMostBits = size_t{1} << 34;  // 2 GiB of word sets: refuse longer captions

// Between equal texts METEOR only runs the first of its modules.
void keep_first(std::array<bool, kMeteorModules>& modules) {
    const auto first = std::find(modules.begin(), modules.end(), true);
    if (first != modules.end()) std::fill(first + 1, modules.end(), false);
}

// Quicker than resize for the few that are needed.
void append_zeros(std::vector<uint64_t>& values, size_t count) {
    for (; count > 0; --count) values.push_back(0);
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
        append_zeros(bits, stride);
    }
    bits[slots[id] * stride + position / 64] |= Bits{1} << (position % 64);
}

MeteorAligner::MeteorAligner(const MeteorCaptions& captions,
                             std::array<bool, kMeteorModules> modules, size_t beam)
    : captions_(captions), modules_(modules), beam_size_(std::max<size_t>(beam, 1)) {
    key_sets_.slots = Notes(captions.texts().key_count());
    stem_sets_.slots = Notes(captions.texts().stem_count());
    synset_sets_.slots = Notes(captions.texts().synset_count());
    first_occurrences_ = Notes(captions.phrase_count());
    forward_ = Notes(captions.phrase_count());
    first_back_links_ = Notes(captions.phrase_count());
    last_back_links_ = Notes(captions.phrase_count());
    rows_of_words_ = Notes(captions.texts().word_count());
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
    forget_rows();
    candidate_phrases_ = captions_.phrases(caption);
    link_candidate_phrases();
}

void MeteorAligner::set_reference(uint32_t caption) {
    reference_ = captions_.words(caption);
    reference_phrases_ = captions_.phrases(caption);
    const std::array<bool, kMeteorModules> before = in_use_;
    in_use_ = modules_;
    if (is_same_text()) keep_first(in_use_);
    if (stride_ > 1 || in_use_ != before) forget_rows();  // else those of other references serve
    propose();
}

void MeteorAligner::align() {
    matches_.clear();
    fix_matches();
    search();
}

MatchableWords MeteorAligner::matchable_words() const {
    MatchableWords words;
    words.candidate.other = in_phrases_;
    words.candidate.joined = not_last_in_phrases_;
    words.reference.joined = 0;
    Bits ended = 0;   // candidate places of matches that end with the reference word before
    Bits firsts = 0;  // the first place in the candidate of each word that the reference has too
    Bits in_candidate[kMostPlaces], in_reference[kMostPlaces];  // by that place
    for (size_t j = 0; j < reference_.size; ++j) {
        const Bits place = places(j, 1);
        if (starts_[j].phrase_matches > 0 || starts_[j].is_inside_phrase) {
            words.reference.other |= place;
        }
        const Bits* row = rows_.data() + starts_[j].row * 3;
        const Bits alone = row[0] | row[1] | row[2];
        const Bits following = ended << 1 & (alone | starts_[j].phrase_starts);
        words.candidate.joined |= following >> 1;
        if (following != 0 || starts_[j].is_inside_phrase) words.reference.joined |= place >> 1;
        ended = alone | starts_[j].phrase_ends;
        words.candidate.other |= row[1];
        words.candidate.synonym |= row[2];
        if (row[1] != 0) words.reference.other |= place;
        if (row[2] != 0) words.reference.synonym |= place;
        if (row[0] == 0) continue;
        const size_t first = lowest_bit(row[0]);
        if ((firsts >> first & 1) == 0) {
            firsts |= places(first, 1);
            in_candidate[first] = row[0];
            in_reference[first] = 0;
        }
        in_reference[first] |= place;
    }
    for (; firsts != 0; firsts &= firsts - 1) {
        const size_t first = lowest_bit(firsts);
        words.add_exact(in_candidate[first], in_reference[first]);
    }
    return words;
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
    covered_otherwise_ = 0;
    in_phrases_ = not_last_in_phrases_ = 0;
    propose_words();
    if (!uses(MeteorModule::paraphrase)) return;
    find_linked_phrases();
    if (linked_phrases_.empty()) return;
    for (size_t j = 0; j < reference_.size; ++j) count_phrases(j);
}

void MeteorAligner::forget_rows() {
    rows_of_words_.forget_all();
    rows_.clear();
}

void MeteorAligner::propose_words() {
    const size_t row_size = 3 * stride_;
    for (size_t j = 0; j < reference_.size; ++j) {
        const uint32_t word = reference_[j];
        if (!rows_of_words_.has(word)) {
            rows_of_words_.set(word, static_cast<uint32_t>(rows_.size() / row_size));
            fill_row(captions_.facts(word));
        }
        starts_[j].row = rows_of_words_[word];
        const Bits* row = rows_.data() + starts_[j].row * row_size;
        if (stride_ > 1 || (row[0] | row[1] | row[2]) != 0) count_words(j);
    }
}

// Which candidate words match the word: by key, by stem, by synset. Words with the same key are
// left to the first module, even when that is switched off.
void MeteorAligner::fill_row(const WordFacts& word) {
    if (rows_.size() + 3 * stride_ > kMostBits / 64) {
        throw std::length_error("METEOR: a caption is too long to align");
    }
    append_zeros(rows_, 3 * stride_);
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
            if (m > 0) covered_otherwise_ |= row[k];
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
        ++start.coverage;
        for (size_t k = 1; k < match.reference_length; ++k) {
            ++starts_[j + k].coverage;
            starts_[j + k].is_inside_phrase = true;
        }
        const uint32_t weight = match.candidate_length / 2 + match.reference_length / 2;
        start.phrase_weight = std::max(start.phrase_weight, weight);
        cover_candidate(match.candidate_start, match.candidate_length);
        start.phrase_starts |= Bits{1} << (match.candidate_start % 64);
        starts_[j + match.reference_length - 1].phrase_ends |=
            Bits{1} << ((match.candidate_start + match.candidate_length - 1) % 64);
        start.only = {match.candidate_start, match.candidate_length, static_cast<uint32_t>(j),
                      match.reference_length, MeteorModule::paraphrase};
    }
}

void MeteorAligner::cover_candidate(size_t start, size_t length) {
    for (size_t i = start; i < start + length; ++i) {
        const Bits bit = Bits{1} << (i % 64);
        covered_again_[i / 64] |= covered_[i / 64] & bit;
        covered_[i / 64] |= bit;
        covered_otherwise_ |= bit;
        in_phrases_ |= bit;
        if (i + 1 < start + length) not_last_in_phrases_ |= bit;
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
