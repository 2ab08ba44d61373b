#include "word_pieces.hpp"

#include <algorithm>
#include <array>

#include "hashing.hpp"
#include "parallel.hpp"

namespace reelscore {
namespace {

constexpr std::string_view kWithin = "##";    // before pieces that continue a word
constexpr std::size_t kLongestWord = 100;     // characters; longer words are unknown
constexpr std::size_t kBytesOfCharacter = 4;  // at most

enum class Kind : std::uint8_t { letter, space, punctuation, removed };

constexpr Kind kind_of(unsigned char c) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return Kind::space;
    if (c < ' ' || c == 0x7F) return Kind::removed;
    const bool is_plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 0x80;
    return is_plain ? Kind::letter : Kind::punctuation;
}

constexpr std::array<Kind, 256> all_kinds() {
    std::array<Kind, 256> kinds{};
    for (std::size_t c = 0; c < kinds.size(); ++c) {
        kinds[c] = kind_of(static_cast<unsigned char>(c));
    }
    return kinds;
}

constexpr std::array<Kind, 256> kKinds = all_kinds();

bool is_within_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool is_too_long(std::string_view word) {
    if (word.size() <= kLongestWord) return false;
    if (word.size() > kLongestWord * kBytesOfCharacter) return true;
    const auto within = std::count_if(word.begin(), word.end(), is_within_character);
    return word.size() - static_cast<std::size_t>(within) > kLongestWord;
}

std::vector<std::pair<std::string, std::uint32_t>> numbered(StringsView texts,
                                                            const std::uint32_t* numbers) {
    std::vector<std::pair<std::string, std::uint32_t>> all;
    for (std::size_t k = 0; k < texts.size; ++k) all.emplace_back(texts[k], numbers[k]);
    return all;
}

// The pieces that begin a word, or those within one, without what is written before them.
TextNumbers pieces_of(StringsView pieces, const std::uint32_t* numbers, bool within) {
    auto all = numbered(pieces, numbers);
    const auto is_within = [](const auto& piece) {
        return piece.first.size() > kWithin.size() && piece.first.rfind(kWithin, 0) == 0;
    };
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const auto& piece) { return is_within(piece) != within; }),
              all.end());
    if (within) {
        for (auto& piece : all) piece.first.erase(0, kWithin.size());
    }
    return TextNumbers(std::move(all));
}

}  // namespace

TextNumbers::TextNumbers(std::vector<std::pair<std::string, std::uint32_t>> texts)
    : texts_(std::move(texts)) {
    std::size_t slots = 2;
    while (slots < 2 * texts_.size()) slots *= 2;
    slots_.assign(slots, 0);
    for (std::size_t k = 0; k < texts_.size(); ++k) {
        std::size_t slot = hash_bytes(texts_[k].first) & (slots - 1);
        while (slots_[slot] != 0) slot = (slot + 1) & (slots - 1);
        slots_[slot] = static_cast<std::uint32_t>(k + 1);
        longest_ = std::max(longest_, texts_[k].first.size());
    }
}

const std::uint32_t* TextNumbers::find(std::string_view text) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash_bytes(text) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
        const auto& known = texts_[slots_[slot] - 1];
        if (known.first == text) return &known.second;
    }
    return nullptr;
}

WordPieces::WordPieces(StringsView pieces, const std::uint32_t* numbers, std::uint32_t unknown,
                       StringsView marks, const std::uint32_t* mark_numbers)
    : first_(pieces_of(pieces, numbers, false)),
      further_(pieces_of(pieces, numbers, true)),
      unknown_(unknown),
      marks_(numbered(marks, mark_numbers)) {}

Words WordPieces::cut(StringsView texts, std::size_t threads) const {
    std::vector<Pieces> blocks((texts.size + kBlockSize - 1) / kBlockSize);
    Words all;
    all.offsets.resize(texts.size + 1);
    parallel_blocks(texts.size, kBlockSize, threads, [&](std::size_t begin, std::size_t end) {
        Pieces& own = blocks[begin / kBlockSize];
        std::string word;
        for (std::size_t k = begin; k < end; ++k) {
            cut_text(texts[k], word, own);
            all.offsets[k + 1] = static_cast<std::int64_t>(own.size());  // within the block
        }
    });
    for (std::size_t number = 0; number < blocks.size(); ++number) {
        const std::size_t begin = number * kBlockSize;
        const std::size_t end = std::min(texts.size, begin + kBlockSize);
        for (std::size_t k = begin; k < end; ++k) {
            all.offsets[k + 1] += static_cast<std::int64_t>(all.ids.size());
        }
        all.ids.insert(all.ids.end(), blocks[number].begin(), blocks[number].end());
    }
    return all;
}

void WordPieces::cut_text(std::string_view text, std::string& word, Pieces& out) const {
    const auto end_word = [&] {
        if (!word.empty()) cut_word(word, out);
        word.clear();
    };
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char c = text[k];
        switch (kKinds[static_cast<unsigned char>(c)]) {
            case Kind::letter:
                word.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
                break;
            case Kind::removed:
                break;
            case Kind::space:
                end_word();
                break;
            case Kind::punctuation:
                end_word();
                if (c != '[' || !cut_mark(text, k, out)) cut_word({&c, 1}, out);
        }
    }
    end_word();
}

// The mark that begins at a position, which is moved to its last character.
bool WordPieces::cut_mark(std::string_view text, std::size_t& position, Pieces& out) const {
    for (const auto& [mark, number] : marks_) {
        if (text.compare(position, mark.size(), mark) == 0) {
            out.push_back(number);
            position += mark.size() - 1;
            return true;
        }
    }
    return false;
}

// The longest piece from the front again and again; all or nothing. No piece ends inside a
// character, so that bytes can be compared.
void WordPieces::cut_word(std::string_view word, Pieces& out) const {
    const std::size_t before = out.size();
    bool is_known = !is_too_long(word);
    for (std::size_t begin = 0; is_known && begin < word.size();) {
        const TextNumbers& pieces = begin == 0 ? first_ : further_;
        const std::uint32_t* number = nullptr;
        std::size_t size = std::min(word.size() - begin, pieces.longest());
        for (; size > 0 && number == nullptr; --size) {
            number = pieces.find(word.substr(begin, size));
            if (number != nullptr) begin += size;
        }
        if (number == nullptr) {
            is_known = false;
        } else {
            out.push_back(*number);
        }
    }
    if (!is_known) {
        out.resize(before);
        out.push_back(unknown_);
    }
}

}  // namespace reelscore
