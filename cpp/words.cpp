#include "words.hpp"

#include "hashing.hpp"
#include "unicode.hpp"

namespace reelscore {
namespace {

// Bytes of the white space that begins at text[k]; 0 where there is none, or inside a character.
std::size_t space_at(std::string_view text, std::size_t k) {
    const auto first = static_cast<unsigned char>(text[k]);
    if (first < 0x80) return is_space(first) ? 1 : 0;
    if ((first & 0xC0) == 0x80) return 0;
    std::size_t end = k;
    return is_space(decode(text, end)) ? end - k : 0;
}

template <typename Visit>
void split_whitespace(std::string_view text, Visit&& visit) {
    std::size_t begin = 0;
    for (std::size_t k = 0; k < text.size();) {
        const std::size_t space = space_at(text, k);
        if (space == 0) {
            ++k;
            continue;
        }
        if (k > begin) visit(text.substr(begin, k - begin));
        k += space;
        begin = k;
    }
    if (text.size() > begin) visit(text.substr(begin));
}

template <typename Visit>
void split_blank(std::string_view text, Visit&& visit) {
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find(' ', begin);
        if (end == std::string_view::npos) {
            visit(text.substr(begin));
            return;
        }
        visit(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

// Whether two texts with the same hash are the same.
bool is_same(std::string_view one, std::string_view other) {
    return one.size() == other.size() && (one.size() <= kToldApart || one == other);
}

}  // namespace

std::uint32_t Vocabulary::id(std::string_view word) {
    if (2 * (hashes_.size() + 1) > slots_.size()) grow();
    const std::uint64_t hash = hash_bytes(word);
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
    const auto add = [&](std::string_view word) { words.ids.push_back(vocabulary.id(word)); };
    for (std::size_t k = 0; k < captions.size; ++k) {
        if (split == Split::whitespace) {
            split_whitespace(captions[k], add);
        } else {
            split_blank(captions[k], add);
        }
        words.offsets.push_back(static_cast<std::int64_t>(words.ids.size()));
    }
    return words;
}

bool plainly_spaced(StringsView captions) {
    for (std::size_t k = 0; k < captions.size; ++k) {
        const std::string_view text = captions[k];
        bool after_blank = true;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const bool blank = text[i] == ' ';
            if (blank ? after_blank : space_at(text, i) != 0) return false;
            after_blank = blank;
        }
        if (after_blank) return false;  // ends in a blank, or is empty
    }
    return true;
}

}  // namespace reelscore
