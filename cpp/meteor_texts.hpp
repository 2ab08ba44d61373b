// What METEOR needs to know of texts: their words, the facts about each word, and the phrases of
// the paraphrase table that stand in them. Words are numbered densely, so that the aligner looks
// things up in arrays. Each distinct text and word is analysed once, and may serve many calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "id_table.hpp"
#include "meteor_index.hpp"
#include "strings.hpp"

namespace reelscore {

// Java's String.hashCode of UTF-8 text. METEOR compares these hashes, not the words: 20s and 225
// are the same word to it.
std::uint32_t java_hash(std::string_view text);

// The synsets of a word itself and of its base forms, sorted. METEOR's morphology knows no part of
// speech; the words of a phrase are joined by "_".
std::vector<std::uint32_t> synsets_of(const MeteorIndex& index, std::string_view word);

// A phrase of the paraphrase table that stands in a text.
struct PhraseOccurrence {
    static constexpr std::size_t kMostWords = 1 << 24;  // of a text
    static constexpr std::size_t kLongest = 255;

    std::uint32_t phrase;
    std::uint32_t start : 24, length : 8;
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

struct TextOptions {
    bool normalize = true;
    bool synonyms = true;     // look up what the synonym module needs
    bool paraphrases = true;  // likewise
    const StemTable* stems = nullptr;

    bool is_english() const { return normalize && synonyms && paraphrases && !stems; }
};

class MeteorTexts {
  public:
    // The index must outlive the texts.
    MeteorTexts(const MeteorIndex& index, const TextOptions& options)
        : index_(index), options_(options) {}

    // Add all texts first, then call analyze. Equal texts share an id. Throws std::length_error for
    // texts of excessive length.
    std::vector<std::uint32_t> add(StringsView texts);
    void analyze(std::size_t threads);

    const MeteorIndex& index() const { return index_; }
    std::size_t size() const { return texts_.size(); }
    Slice<std::uint32_t> words(std::uint32_t text) const {
        return {words_.data() + word_offsets_[text], word_offsets_[text + 1] - word_offsets_[text]};
    }
    // Phrases are given as their nodes in the METEOR index, by start and then by length.
    Slice<PhraseOccurrence> phrases(std::uint32_t text) const { return phrases_[text]; }

    std::string_view spelling(std::uint32_t word) const { return spellings_.view()[word]; }
    std::uint32_t indexed(std::uint32_t word) const { return indexed_words_[word]; }
    const WordFacts& facts(std::uint32_t word) const { return facts_[word]; }
    Slice<std::uint32_t> synsets(const WordFacts& word) const {
        return {synset_ids_.data() + word.synsets_begin, word.synsets_end - word.synsets_begin};
    }
    std::size_t word_count() const { return facts_.size(); }
    std::size_t key_count() const { return keys_.size(); }
    std::size_t stem_count() const { return stems_.size(); }
    std::size_t synset_count() const { return synset_numbers_.size(); }

    // Memory that the texts take, without what is known of words.
    std::size_t bytes() const;
    // Copies new texts, which lie in the memory of whoever added them.
    void keep_texts();

  private:
    void split_into_words(std::size_t threads);
    std::uint32_t word_id(std::string_view word);
    void learn_words(std::size_t threads);
    void find_phrases(std::size_t threads);
    void append_phrases(std::size_t text, std::vector<PhraseOccurrence>& found) const;

    const MeteorIndex& index_;
    TextOptions options_;

    std::vector<std::string_view> texts_;
    std::deque<std::string> kept_;  // one for each call of keep_texts
    std::size_t kept_texts_ = 0;    // so many of the texts lie there
    IdTable text_table_;
    std::vector<std::uint32_t> words_;
    std::vector<std::size_t> word_offsets_{0};
    std::vector<Slice<PhraseOccurrence>> phrases_;  // by text
    std::vector<std::vector<PhraseOccurrence>> phrase_blocks_;

    Strings spellings_;  // of words
    IdTable word_table_;
    std::vector<WordFacts> facts_;
    std::vector<std::uint32_t> indexed_words_;  // id of each word in the METEOR index, or kNone
    std::vector<MeteorIndex::FirstNode> first_nodes_;  // of each word
    IntegerTable keys_, stems_, synset_numbers_;
    std::vector<std::uint32_t> synset_ids_;
};

// Keeps analysed English texts for later calls: references come again with every system, and the
// same captions with every round of training. Calls at the same time have texts of their own.
class MeteorMemory {
  public:
    // The bytes that the index looks at must outlive the memory.
    explicit MeteorMemory(const MeteorIndex& index) : index_(index) {}

    const MeteorIndex& index() const { return index_; }
    // Texts to add those of a call to, of so many bytes; to be given back when the call is done.
    // Large calls find nothing, and leave nothing behind.
    std::unique_ptr<MeteorTexts> borrow(std::size_t bytes_to_add);
    void give_back(std::unique_ptr<MeteorTexts> texts, std::size_t bytes_added);
    // How many texts are kept for later calls.
    std::size_t size() const;

  private:
    const MeteorIndex index_;
    mutable std::mutex guard_;
    std::vector<std::unique_ptr<MeteorTexts>> idle_;
};

}  // namespace reelscore
