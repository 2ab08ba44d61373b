// What METEOR's aligner needs to know of captions, worked out once per distinct caption, word and
// phrase of a batch. Everything is numbered densely, so that the aligner looks things up in arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "id_table.hpp"
#include "language_index.hpp"
#include "strings.hpp"

namespace reelscore {

// Java's String.hashCode of UTF-8 text. METEOR compares these hashes, not the words: 20s and 225
// are the same word to it.
std::uint32_t java_hash(std::string_view text);

// The synsets of a word itself and of its base forms, sorted. METEOR's morphology knows no part of
// speech; the words of a phrase are joined by "_".
std::vector<std::uint32_t> synsets_of(const LanguageIndex& index, std::string_view word);

// A phrase of the paraphrase table that stands in a caption.
struct PhraseOccurrence {
    std::uint32_t phrase, start, length;
};

struct WordFacts {
    std::uint32_t key;   // words with one Java hash have one key
    std::uint32_t stem;  // words whose stems have one Java hash have one stem number
    std::uint32_t synsets_begin, synsets_end;
    bool is_function_word;
};

template <typename Value>
struct Slice {
    const Value* data = nullptr;
    std::size_t size = 0;

    const Value* begin() const { return data; }
    const Value* end() const { return data + size; }
    const Value& operator[](std::size_t k) const { return data[k]; }
};

// Stems of another language than English, by word; a word that is not listed is its own stem.
using StemTable = std::unordered_map<std::string, std::string>;

struct CaptionOptions {
    bool normalize = true;
    bool synonyms = true;     // look up what the synonym module needs
    bool paraphrases = true;  // likewise
    const StemTable* stems = nullptr;
};

class MeteorCaptions {
  public:
    MeteorCaptions(const LanguageIndex& index, const CaptionOptions& options, std::size_t threads)
        : index_(index), options_(options), threads_(threads) {}

    // First add all texts, then call analyze. Equal captions share an id.
    std::vector<std::uint32_t> add(StringsView texts);
    void analyze();

    Slice<std::uint32_t> words(std::uint32_t caption) const {
        return slice(words_, word_offsets_, caption);
    }
    Slice<PhraseOccurrence> phrases(std::uint32_t caption) const {
        return slice(phrases_, phrase_offsets_, caption);
    }
    std::string_view text(std::uint32_t word) const { return word_texts_.view()[word]; }
    const WordFacts& facts(std::uint32_t word) const { return facts_[word]; }
    Slice<std::uint32_t> synsets(const WordFacts& word) const {
        return {synset_ids_.data() + word.synsets_begin, word.synsets_end - word.synsets_begin};
    }
    // Paraphrases of a phrase, in table order, as far as they stand in any caption.
    Slice<std::uint32_t> paraphrases(std::uint32_t phrase) const {
        return slice(targets_, target_offsets_, phrase);
    }

    // The phrases that have this one among their paraphrases.
    Slice<std::uint32_t> sources(std::uint32_t phrase) const {
        return slice(sources_, source_offsets_, phrase);
    }

    std::size_t word_count() const { return facts_.size(); }
    std::size_t key_count() const { return keys_.size(); }
    std::size_t stem_count() const { return stems_.size(); }
    std::size_t synset_count() const { return synset_numbers_.size(); }
    std::size_t phrase_count() const { return target_offsets_.size() - 1; }

  private:
    template <typename Value>
    static Slice<Value> slice(const std::vector<Value>& values,
                              const std::vector<std::size_t>& offsets, std::size_t k) {
        return {values.data() + offsets[k], offsets[k + 1] - offsets[k]};
    }
    void split_into_words();
    std::uint32_t word_id(std::string_view word);
    void learn_words();
    void find_phrases();
    class PhraseWalker;
    std::vector<Slice<std::uint32_t>> spell_phrases(std::size_t count) const;
    void sort_by_spelling(std::vector<std::uint32_t>& phrases,
                          const std::vector<Slice<std::uint32_t>>& spellings) const;
    void link_paraphrases(const IntegerTable& nodes);
    void link_back();
    void drop_useless_phrases();

    const LanguageIndex& index_;
    CaptionOptions options_;
    std::size_t threads_;

    std::vector<std::string_view> texts_;  // of distinct captions, in the caller's memory
    IdTable text_table_;
    std::vector<std::uint32_t> words_;
    std::vector<std::size_t> word_offsets_{0};

    Strings word_texts_;
    IdTable word_table_;
    std::vector<WordFacts> facts_;
    std::vector<std::uint32_t> indexed_words_;  // id of each word in the language index, or kNone
    std::vector<std::uint32_t> first_nodes_;    // phrase of this one word in the index, or kNone
    IntegerTable keys_, stems_, synset_numbers_;
    std::vector<std::uint32_t> synset_ids_;

    std::vector<PhraseOccurrence> phrases_;
    std::vector<std::size_t> phrase_offsets_{0};
    std::vector<std::uint32_t> targets_;
    std::vector<std::size_t> target_offsets_{0};
    std::vector<std::uint32_t> sources_;
    std::vector<std::size_t> source_offsets_{0};
};

}  // namespace reelscore
