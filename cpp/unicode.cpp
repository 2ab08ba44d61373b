#include "unicode.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace reelscore {
namespace {

struct LowerRun {
    std::uint32_t first, last, step;
    std::int32_t difference;
};
struct CodeRange {
    std::uint32_t first, last;
};

#include "unicode_lower.inc"

constexpr char32_t kSigma = 0x3A3, kSmallSigma = 0x3C3, kFinalSigma = 0x3C2;

// The last entry of a sorted table that begins at or before the code point, or nullptr.
template <typename Entry, std::size_t size>
const Entry* entry_at(const Entry (&table)[size], std::uint32_t code_point) {
    const Entry* after = std::upper_bound(
        std::begin(table), std::end(table), code_point,
        [](std::uint32_t value, const Entry& entry) { return value < entry.first; });
    if (after == std::begin(table) || code_point > after[-1].last) return nullptr;
    return after - 1;
}

char32_t lower(char32_t code_point) {
    const LowerRun* run = entry_at(kLowerRuns, code_point);
    if (!run || (code_point - run->first) % run->step != 0) return code_point;
    return static_cast<char32_t>(static_cast<std::int32_t>(code_point) + run->difference);
}

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

char32_t decode_before(std::string_view text, std::size_t& position) {
    std::size_t start = position - 1;
    while (start > 0 && is_continuation(text[start])) --start;
    position = start;
    std::size_t unused = start;
    return decode(text, unused);
}

// Finds out, for many sigmas of one text in ascending order, whether each ends a word. What it
// learns in one direction is kept, so that a long run of ignorable characters is read once.
class SigmaRule {
  public:
    explicit SigmaRule(std::string_view text) : text_(text) {}

    // begin and end delimit the sigma. Final: after a cased letter and not before one.
    bool is_final(std::size_t begin, std::size_t end) {
        return cased_before(begin) && !cased_after(end);
    }

  private:
    bool cased_before(std::size_t position) {
        const std::size_t stop = known_until_;
        const std::size_t asked = position;
        bool answer = stop != 0 && known_answer_;
        while (position > stop) {
            const char32_t c = decode_before(text_, position);
            if (entry_at(kCased, c)) {
                answer = true;
                break;
            }
            if (!entry_at(kCaseIgnorable, c)) {
                answer = false;
                break;
            }
        }
        known_until_ = asked;
        known_answer_ = answer;
        return answer;
    }

    bool cased_after(std::size_t position) {
        if (position < next_deciding_) return next_is_cased_;
        while (position < text_.size()) {
            const char32_t c = decode(text_, position);
            if (entry_at(kCased, c) || !entry_at(kCaseIgnorable, c)) {
                next_deciding_ = position;
                next_is_cased_ = entry_at(kCased, c) != nullptr;
                return next_is_cased_;
            }
        }
        next_deciding_ = text_.size();
        return next_is_cased_ = false;
    }

    std::string_view text_;
    std::size_t known_until_ = 0;    // cased_before was last asked here ...
    bool known_answer_ = false;      // ... with this answer
    std::size_t next_deciding_ = 0;  // end of the character that decided cased_after last
    bool next_is_cased_ = false;
};

}  // namespace

char32_t decode(std::string_view text, std::size_t& position) {
    const auto byte = [&](std::size_t k) {
        return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
    };
    const unsigned first = byte(position);
    const std::size_t at = position;
    if (first < 0x80) {
        position = at + 1;
        return first;
    }
    if (first < 0xE0) {
        position = std::min(at + 2, text.size());
        return ((first & 0x1F) << 6) | (byte(at + 1) & 0x3F);
    }
    if (first < 0xF0) {
        position = std::min(at + 3, text.size());
        return ((first & 0x0F) << 12) | ((byte(at + 1) & 0x3F) << 6) | (byte(at + 2) & 0x3F);
    }
    position = std::min(at + 4, text.size());
    return ((first & 0x07) << 18) | ((byte(at + 1) & 0x3F) << 12) | ((byte(at + 2) & 0x3F) << 6) |
           (byte(at + 3) & 0x3F);
}

void append_utf8(std::string& out, char32_t code_point) {
    const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0 | (code_point >> 6));
        put(0x80 | (code_point & 0x3F));
    } else if (code_point < 0x10000) {
        put(0xE0 | (code_point >> 12));
        put(0x80 | ((code_point >> 6) & 0x3F));
        put(0x80 | (code_point & 0x3F));
    } else {
        put(0xF0 | (code_point >> 18));
        put(0x80 | ((code_point >> 12) & 0x3F));
        put(0x80 | ((code_point >> 6) & 0x3F));
        put(0x80 | (code_point & 0x3F));
    }
}

void append_lower(std::string& out, std::string_view text) {
    SigmaRule sigma(text);
    std::size_t position = 0;
    while (position < text.size()) {
        const unsigned char byte = static_cast<unsigned char>(text[position]);
        if (byte < 0x80) {
            out.push_back(static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte));
            ++position;
            continue;
        }
        const std::size_t begin = position;
        const char32_t code_point = decode(text, position);
        if (code_point == kSigma) {
            append_utf8(out, sigma.is_final(begin, position) ? kFinalSigma : kSmallSigma);
        } else if (code_point == 0x130) {
            out.append("i\xCC\x87");
        } else {
            append_utf8(out, lower(code_point));
        }
    }
}

}  // namespace reelscore
