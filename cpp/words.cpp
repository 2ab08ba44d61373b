#include "words.hpp"

#include "plain_words.hpp"
#include "unicode.hpp"

namespace reelscore {
namespace {

// Whether two texts with the same hash are the same.
bool is_same(std::string_view one, std::string_view other) {
    return one.size() == other.size() && (one.size() <= kToldApart || one == other);
}

}  // namespace

std::uint32_t Vocabulary::id(std::string_view word, std::uint64_t hash) {
    if (2 * (hashes_.size() + 1) > slots_.size()) grow();
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        if (slots_[slot] == 0) {
            hashes_.push_back(hash);
            words_.push_back(word);
            slots_[slot] = static_cast<std::uint32_t>(hashes_.size());
            return slots_[slot] - 1;
        }
        const std::uint32_t known = slots_[slot] - 1;
        if (hashes_[known] == hash && is_same(words_.view()[known], word)) return known;
    }
}

void Vocabulary::grow() {
    slots_.assign(slots_.empty() ? 1024 : 2 * slots_.size(), 0);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t k = 0; k < hashes_.size(); ++k) {
        std::size_t slot = hashes_[k] & mask;
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        slots_[slot] = static_cast<std::uint32_t>(k + 1);
    }
}

Words word_ids(StringsView captions, Split split, Vocabulary& vocabulary) {
    constexpr std::size_t kCharactersPerWord = 5;  // nearly all captions have more
    Words words;
    words.ids.reserve(captions.size == 0 ? 0 : captions.total_bytes() / kCharactersPerWord);
    words.offsets.reserve(captions.size + 1);
    const auto add = [&](std::string_view word, std::uint64_t hash) {
        words.ids.push_back(vocabulary.id(word, hash));
    };
    for (std::size_t k = 0; k < captions.size; ++k) {
        const std::string_view text = captions[k];
        if (split == Split::blank) {
            split_at_blanks(text, add);
        } else if (is_visible_ascii(text)) {
            split_at_blanks(text, [&](std::string_view word, std::uint64_t hash) {
                if (!word.empty()) add(word, hash);
            });
        } else {
            split_whitespace(text, [&](std::string_view word) { add(word, hash_bytes(word)); });
        }
        words.offsets.push_back(static_cast<std::int64_t>(words.ids.size()));
    }
    return words;
}

bool plainly_spaced(StringsView captions) {
    for (std::size_t k = 0; k < captions.size; ++k) {
        const std::string_view text = captions[k];
        if (text.empty() || text.front() == ' ' || text.back() == ' ') return false;
        std::uint8_t pairs = 0;  // two blanks that follow each other
        for (std::size_t i = 1; i < text.size(); ++i) {
            const std::uint8_t is_blank = text[i] == ' ', was_blank = text[i - 1] == ' ';
            pairs |= is_blank & was_blank;
        }
        if (pairs != 0) return false;
        if (is_visible_ascii(text)) continue;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != ' ' && space_at(text, i) != 0) return false;
        }
    }
    return true;
}

}  // namespace reelscore
