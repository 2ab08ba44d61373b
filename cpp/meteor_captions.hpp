// The captions of one call: their words, and which of their phrases are paraphrases of each other.
// Phrases are numbered densely, for look-up in arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "id_table.hpp"
#include "meteor_texts.hpp"

namespace reelscore {

class MeteorCaptions {
  public:
    // Captions are analysed texts, and go by the same ids. The texts must outlive the captions.
    MeteorCaptions(const MeteorTexts& texts,
                   std::initializer_list<const std::vector<std::uint32_t>*> ids,
                   std::size_t threads);

    const MeteorTexts& texts() const { return texts_; }
    Slice<std::uint32_t> words(std::uint32_t caption) const { return texts_.words(caption); }
    const WordFacts& facts(std::uint32_t word) const { return texts_.facts(word); }
    Slice<std::uint32_t> synsets(const WordFacts& word) const { return texts_.synsets(word); }
    Slice<PhraseOccurrence> phrases(std::uint32_t caption) const {
        const Range range = ranges_[caption];
        return {phrases_.data() + range.begin, range.end - range.begin};
    }
    // Paraphrases of a phrase, in table order, as far as they stand in any caption.
    Slice<std::uint32_t> paraphrases(std::uint32_t phrase) const {
        return slice(targets_, target_offsets_, phrase);
    }
    // The phrases that have this one among their paraphrases.
    Slice<std::uint32_t> sources(std::uint32_t phrase) const {
        return slice(sources_, source_offsets_, phrase);
    }
    std::size_t phrase_count() const { return target_offsets_.size() - 1; }

  private:
    struct Range {
        std::size_t begin = 0, end = 0;
    };
    template <typename Value>
    static Slice<Value> slice(const std::vector<Value>& values,
                              const std::vector<std::size_t>& offsets, std::size_t k) {
        return {values.data() + offsets[k], offsets[k + 1] - offsets[k]};
    }
    void number_phrases();
    void sort_by_spelling(std::uint32_t* begin, std::uint32_t* end) const;
    void link_paraphrases(std::size_t threads);
    void link_back();
    void drop_lone_phrases();

    const MeteorTexts& texts_;
    std::vector<std::uint32_t> captions_;  // each once
    std::vector<Range> ranges_;            // by caption: its phrases
    std::vector<PhraseOccurrence> phrases_;
    IntegerTable nodes_;                           // of phrases, in the METEOR index
    std::vector<Slice<std::uint32_t>> spellings_;  // the words of each phrase
    std::vector<std::uint32_t> targets_;
    std::vector<std::size_t> target_offsets_{0};
    std::vector<std::uint32_t> sources_;
    std::vector<std::size_t> source_offsets_{0};
};

}  // namespace reelscore
