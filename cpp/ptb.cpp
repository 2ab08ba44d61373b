#include "ptb.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hashing.hpp"
#include "parallel.hpp"
#include "plain_words.hpp"
#include "ptb_automaton.hpp"
#include "ptb_rules.hpp"
#include "unicode.hpp"

namespace reelscore {
namespace {

using ptb::Make;

bool is_latin_letter(char c) {
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

// What pycocoevalcap drops. The bracket names of its list are in capitals and the tokens are not,
// so brackets stay.
bool is_punctuation(std::string_view token) {
    static constexpr std::array<std::string_view, 13> kDropped = {
        "''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"};
    if (token.empty() || token.size() > 3 || is_latin_letter(token[0]))
        return false;  // most, at once
    return std::find(kDropped.begin(), kDropped.end(), token) != kDropped.end();
}

std::size_t stripped_size(std::string_view line) {
    std::size_t size = line.size();
    while (size > 0) {
        std::size_t start = size - 1;
        while (start > 0 && (line[start] & 0xC0) == 0x80) --start;
        std::size_t p = start;
        if (!is_space(decode(line, p))) break;
        size = start;
    }
    return size;
}

// Writes the tokens of one line behind what `out` holds.
class LineWriter {
  public:
    // drops: the line is ASCII; leave out punctuation as it comes, and finish() with the line.
    LineWriter(std::string& out, bool drops) : out_(out), start_(out.size()), drops_(drops) {}

    void add(std::string_view token) {
        if (drops_) {
            is_odd_ |= token.find(' ') != std::string_view::npos;
            add_plain(token);
        } else {
            begin_token();
            append_lower(out_, token);
        }
    }
    // The same of a token without blanks, in ASCII.
    void add_plain(std::string_view token) {
        if (drops_ && is_punctuation(token)) return;
        begin_token();
        out_.append(token);
        if (!drops_) lower_ascii(out_.size() - token.size());
    }

    // Ends a line of which punctuation was left out. The answer is whether that was what
    // drop_punctuation would have done: unless a token holds a blank, or something else that is no
    // visible ASCII character. If not, nothing is written.
    bool finish() {
        if (is_odd_ || !is_visible_ascii(std::string_view(out_).substr(start_))) {
            out_.resize(start_);
            return false;
        }
        lower_ascii(start_);
        return true;
    }

    // What pycocoevalcap does with the line: strip it, split it at blanks, drop punctuation, join.
    void drop_punctuation() {
        const std::size_t end = start_ + stripped_size(std::string_view(out_).substr(start_));
        std::size_t kept = start_;
        for (std::size_t begin = start_; begin < end;) {
            const std::size_t blank = std::min(out_.find(' ', begin), end);
            const std::size_t size = blank - begin;
            if (!is_punctuation({out_.data() + begin, size})) {
                if (kept > start_) out_[kept++] = ' ';
                std::copy_n(out_.begin() + static_cast<std::ptrdiff_t>(begin), size,
                            out_.begin() + static_cast<std::ptrdiff_t>(kept));
                kept += size;
            }
            begin = blank + 1;
        }
        out_.resize(kept);
    }

  private:
    void begin_token() {
        if (out_.size() > start_) out_ += ' ';
    }
    void lower_ascii(std::size_t begin) {
        char* const bytes = out_.data();
        for (std::size_t p = begin, end = out_.size(); p < end; ++p) {
            const auto above_a = static_cast<std::uint8_t>(bytes[p] - 'A');
            bytes[p] = static_cast<char>(bytes[p] + (above_a < 26 ? 'a' - 'A' : 0));
        }
    }

    std::string& out_;
    std::size_t start_;
    bool drops_, is_odd_ = false;
};

// Appends token with the parts that `change` knows replaced: change(code point) gives the text to
// write instead, or nullptr.
template <typename Change>
void rewrite(std::string& out, std::string_view token, Change change) {
    for (std::size_t p = 0; p < token.size();) {
        const std::size_t begin = p;
        const char32_t c = decode(token, p);
        if (const char* text = change(c)) {
            out += text;
        } else {
            out.append(token.substr(begin, p - begin));
        }
    }
}

const char* without_soft_hyphen(char32_t c) {
    return c == 0xAD ? "" : nullptr;
}

const char* plain_apostrophe(char32_t c) {
    switch (c) {
        case 0x92:
        case 0x2019:
            return "'";
        case 0x91:
        case 0x2018:
        case 0x201B:
            return "`";
        default:
            return without_soft_hyphen(c);
    }
}

const char* spelled_bracket(char32_t c) {
    return c == '(' ? "-LRB-" : c == ')' ? "-RRB-" : nullptr;
}

const char* hard_blank(char32_t c) {
    return c == ' ' ? "\u00A0" : nullptr;
}

const char* joined(char32_t c) {
    return c == ' ' ? hard_blank(c) : spelled_bracket(c);
}

const char* quotation_mark(char32_t c) {
    switch (c) {
        case 0x91:
        case 0x2018:
        case 0x201B:
        case 0x2039:
            return "`";
        case 0x92:
        case 0x2019:
        case 0x203A:
            return "'";
        case 0x93:
        case 0xAB:
        case 0x201C:
            return "``";
        case 0x94:
        case 0xBB:
        case 0x201D:
            return "''";
        default:
            return nullptr;
    }
}

// Remembers short words that are a token as they are if a blank ends them, whatever follows: most
// words of captions, so they need not go through the automaton each time. What is known holds for
// all texts, and threads may read and write it at any time.
class PlainWords {
  public:
    // The size of such a word at the beginning of a text; 0 if there is none that is known.
    std::size_t size_at(std::string_view text) const {
        const ShortWord word(text);
        const bool is_known = slots_[slot_of(word)].load(std::memory_order_relaxed) == word.bytes;
        return is_known ? word.size : 0;
    }
    // Such a word of so many bytes, with the text that it begins; kept if it is short and ASCII.
    void learn(std::string_view text, std::size_t size) {
        const ShortWord word(text);
        if (word.size != size || !is_ascii(text.substr(0, size))) return;
        slots_[slot_of(word)].store(word.bytes, std::memory_order_relaxed);
    }

  private:
    static constexpr unsigned kSlotBits = 12;
    static std::size_t slot_of(const ShortWord& word) {
        return word.bytes * kPrime1 >> (64 - kSlotBits);
    }

    std::array<std::atomic<std::uint64_t>, std::size_t{1} << kSlotBits> slots_{};
};

PlainWords plain_words;

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {
        for (std::size_t c = 0; c < is_word_start_.size(); ++c) {
            is_word_start_[c] = ptb::is_lone_blank(static_cast<char>(c));
        }
    }

    // A token that runs on into the next line: the value of an attribute of a tag may.
    struct Open {
        const ptb::Rule* rule = nullptr;
        std::size_t end = 0;
    };

    // Writes the tokens of the line text[begin .. end); looks ahead as far as `limit`. `open` is
    // the token that the line begins in, if any; the answer is the one that it ends in.
    Open line(std::size_t begin, std::size_t end, std::size_t limit, Open open, LineWriter& out) {
        misses_.clear();
        is_closed_ = true;
        std::size_t p = begin;
        if (open.rule != nullptr) {
            p = std::min(open.end, end);
            if (p > begin) make(*open.rule, text_.substr(begin, p - begin), out);
            if (open.end > end) return open;
        }
        while (p < end) {
            if (const std::size_t size = plain_words.size_at(text_.substr(p, end - p))) {
                out.add_plain(text_.substr(p, size));
                p += size;
                if (p + 1 < end && is_word_start_[static_cast<unsigned char>(text_[p + 1])]) ++p;
                continue;
            }
            const auto match = ptb::longest(text_, p, limit, misses_);
            is_closed_ &= !match.is_open;
            if (match.rule < 0) {  // a character no rule knows
                decode(text_, p);
                continue;
            }
            const auto& rule = ptb::kRules[match.rule];
            const std::size_t token_end =
                match.has_ahead ? ptb::token_end(text_, p, match) : match.end;
            make(rule, text_.substr(p, std::min(token_end, end) - p), out);
            if (token_end > end) return {&rule, token_end};
            if (is_plain(rule, match)) plain_words.learn(text_.substr(p, end - p), token_end - p);
            p = token_end;
            if (rule.make == Make::last_dot) --p;
        }
        return {};
    }
    // Whether the tokens of the last line would be the same whatever stood behind the limit.
    bool is_closed() const { return is_closed_; }

  private:
    // Whether a match is a token as it is, if it is ASCII, because of the blank behind it.
    bool is_plain(const ptb::Rule& rule, const ptb::Match& match) const {
        return match.is_told_by_next && !match.has_ahead && text_[match.end] == ' ' &&
               (rule.make == Make::same || rule.make == Make::word);
    }
    void make(const ptb::Rule& rule, std::string_view token, LineWriter& out) {
        scratch_.clear();
        switch (rule.make) {
            case Make::skip:
                return;
            case Make::same:
            case Make::last_dot:
                out.add(token);
                return;
            case Make::fixed:
                out.add(rule.text);
                return;
            case Make::word:
                if (is_ascii(token)) {
                    out.add(token);
                    return;
                }
                rewrite(scratch_, token, without_soft_hyphen);
                break;
            case Make::apostrophes: {
                const std::size_t entity = token.find("&apos;");
                if (entity == std::string_view::npos) {
                    rewrite(scratch_, token, plain_apostrophe);
                } else {
                    scratch_.append(token.substr(0, entity)) += '\'';
                    scratch_.append(token.substr(entity + 6));
                }
                break;
            }
            case Make::markup:
                rewrite(scratch_, token, hard_blank);
                break;
            case Make::brackets:
                rewrite(scratch_, token, spelled_bracket);
                break;
            case Make::joined:
                rewrite(scratch_, token, joined);
                break;
            case Make::quotes:
                rewrite(scratch_, token, quotation_mark);
                break;
            case Make::ampersand:
                for (std::size_t p = 0; p < token.size();) {
                    const bool entity = token[p] == '&' && token.size() - p > 4 &&
                                        (token[p + 1] | 32) == 'a' && token[p + 4] == ';';
                    scratch_ += token[p];
                    p += entity ? 5 : 1;
                }
                break;
        }
        out.add(scratch_.empty() ? std::string_view("-") : std::string_view(scratch_));
    }

    std::string_view text_;
    ptb::Misses misses_;
    std::string scratch_;
    std::array<bool, 256> is_word_start_;  // whether a single blank before a byte is skipped
    bool is_closed_ = true;
};

// All captions, each followed by a line feed; line feeds and other line ends inside a caption
// become blanks.
struct Lines {
    std::string text;
    std::vector<std::size_t> starts;  // one for each caption, and the end
};

void append_caption(std::string& text, std::string_view caption) {
    if (!caption.empty() && caption.back() == '\r') caption.remove_suffix(1);
    std::uint8_t line_ends = 0;  // nearly all have none
    for (char c : caption) {
        const auto above_feed = static_cast<std::uint8_t>(c - '\n');
        const std::uint8_t is_end = above_feed <= '\r' - '\n', may_be_end = c == '\xE2';
        line_ends |= is_end | may_be_end;
    }
    if (line_ends == 0) {
        text.append(caption).push_back('\n');
        return;
    }
    for (std::size_t p = 0; p < caption.size(); ++p) {
        const char c = caption[p];
        if (c >= '\n' && c <= '\r') {  // LF, VT, FF, CR
            text += ' ';
        } else if (c == '\xE2' &&
                   (caption.compare(p, 3, "\u2028") == 0 || caption.compare(p, 3, "\u2029") == 0)) {
            text += ' ';
            p += 2;
        } else {
            text += c;
        }
    }
    text += '\n';
}

// What of each caption is known before, and is to be found out; nullptr for nothing.
struct Closed {
    const std::uint8_t* known = nullptr;
    std::uint8_t* found = nullptr;
};

// All captions; or where it is known which of them are closed, the others.
OpenLines tokenize(StringsView captions, PtbMode mode, bool keep_punctuation, std::size_t threads,
                   Closed closed) {
    Lines lines;
    if (captions.size > 0) {
        lines.text.reserve(
            static_cast<std::size_t>(captions.offsets[captions.size] - captions.offsets[0]) +
            captions.size);
    }
    lines.starts.reserve(captions.size + 1);
    for (std::size_t k = 0; k < captions.size; ++k) {
        lines.starts.push_back(lines.text.size());
        append_caption(lines.text, captions[k]);
    }
    lines.starts.push_back(lines.text.size());
    // The file that pycocoevalcap writes has no line feed behind its last line.
    const std::size_t file_end = lines.text.empty() ? 0 : lines.text.size() - 1;

    auto write_line = [&](Lexer& lexer, std::size_t k, Lexer::Open open, std::string& bytes) {
        const std::size_t begin = lines.starts[k], end = lines.starts[k + 1] - 1;
        const std::size_t limit = mode == PtbMode::coco ? file_end : end + 1;
        if (!keep_punctuation &&
            is_ascii(std::string_view(lines.text).substr(begin, end - begin))) {
            LineWriter quick(bytes, true);
            const Lexer::Open after = lexer.line(begin, end, limit, open, quick);
            if (quick.finish()) return after;
        }
        LineWriter writer(bytes, false);
        open = lexer.line(begin, end, limit, open, writer);
        if (!keep_punctuation) writer.drop_punctuation();
        return open;
    };
    const auto is_known = [&](std::size_t k) {
        return closed.known != nullptr && closed.known[k] != 0 && k + 1 < captions.size;
    };
    constexpr std::size_t kBlock = 256;
    struct Block {
        Strings lines;
        std::vector<std::pair<std::size_t, Lexer::Open>> open;  // lines that end inside a token
    };
    std::vector<Block> blocks((captions.size + kBlock - 1) / kBlock);
    parallel_blocks(captions.size, kBlock, threads, [&](std::size_t begin, std::size_t end) {
        Lexer lexer(lines.text);
        Block& block = blocks[begin / kBlock];
        block.lines.bytes.reserve(lines.starts[end] - lines.starts[begin]);
        block.lines.offsets.reserve(end - begin + 1);
        for (std::size_t k = begin; k < end; ++k) {
            if (!is_known(k)) {
                const auto open = write_line(lexer, k, {}, block.lines.bytes);
                if (open.rule != nullptr) block.open.push_back({k, open});
                if (closed.found != nullptr) {
                    closed.found[k] = lexer.is_closed() && open.rule == nullptr;
                }
            }
            block.lines.offsets.push_back(static_cast<std::int64_t>(block.lines.bytes.size()));
        }
    });

    // A line after one that ends inside a token was read from the wrong place: read it again.
    std::map<std::size_t, std::string> repaired;
    Lexer lexer(lines.text);
    for (const Block& block : blocks) {
        for (auto [k, open] : block.open) {
            if (repaired.count(k) != 0) continue;  // it did not end so, rightly read
            while (open.rule != nullptr && ++k < captions.size) {
                std::string line;
                open = write_line(lexer, k, open, line);
                repaired[k] = std::move(line);
            }
        }
    }

    OpenLines out;
    std::size_t bytes = 0;
    for (const Block& block : blocks) bytes += block.lines.bytes.size();
    out.tokens.bytes.reserve(bytes);
    if (closed.known == nullptr) out.tokens.offsets.reserve(captions.size + 1);
    std::size_t line = 0;
    for (const Block& block : blocks) {
        for (std::size_t k = 0; k < block.lines.size(); ++k, ++line) {
            const auto fixed = repaired.empty() ? repaired.end() : repaired.find(line);
            if (fixed == repaired.end() && is_known(line)) continue;
            if (closed.known != nullptr) out.numbers.push_back(static_cast<std::int64_t>(line));
            out.tokens.push_back(fixed == repaired.end() ? block.lines.view()[k] : fixed->second);
        }
    }
    return out;
}

}  // namespace

Strings ptb_tokenize(StringsView captions, PtbMode mode, bool keep_punctuation,
                     std::size_t threads) {
    return tokenize(captions, mode, keep_punctuation, threads, {}).tokens;
}

Strings ptb_tokenize_lines(StringsView captions, std::size_t threads, std::uint8_t* closed) {
    return tokenize(captions, PtbMode::separate, false, threads, {nullptr, closed}).tokens;
}

OpenLines ptb_tokenize_open(StringsView captions, const std::uint8_t* closed, std::size_t threads) {
    return tokenize(captions, PtbMode::coco, false, threads, {closed, nullptr});
}

}  // namespace reelscore
