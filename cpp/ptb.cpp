#include "ptb.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "ptb_automaton.hpp"
#include "ptb_rules.hpp"
#include "unicode.hpp"

namespace reelscore {
namespace {

using ptb::Make;

// What pycocoevalcap drops. The bracket names of its list are in capitals and the tokens are not,
// so brackets stay.
bool is_punctuation(std::string_view token) {
    static constexpr std::array<std::string_view, 13> kDropped = {
        "''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"};
    return token.size() <= 3 &&
           std::find(kDropped.begin(), kDropped.end(), token) != kDropped.end();
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
    // drops: leave out punctuation as it comes. That is what drop_punctuation would do unless
    // is_odd(): a token holds a blank, or something else that is not a visible ASCII character.
    LineWriter(std::string& out, bool drops) : out_(out), start_(out.size()), drops_(drops) {}

    bool is_odd() const { return is_odd_; }
    void undo() { out_.resize(start_); }

    void add(std::string_view token) {
        if (drops_) {
            if (is_punctuation(token)) return;
            for (unsigned char c : token) is_odd_ |= (c <= ' ') | (c >= 0x7F);
        }
        if (out_.size() > start_) out_ += ' ';
        const std::size_t begin = out_.size();
        if (is_ascii(token)) {
            out_.append(token);
            for (std::size_t p = begin; p < out_.size(); ++p) {
                if (out_[p] >= 'A' && out_[p] <= 'Z') out_[p] += 'a' - 'A';
            }
        } else {
            append_lower(out_, token);
        }
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

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

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
            p = token_end;
            if (rule.make == Make::last_dot) --p;
        }
        return {};
    }
    // Whether the tokens of the last line would be the same whatever stood behind the limit.
    bool is_closed() const { return is_closed_; }

  private:
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
    bool is_plain = true;  // no line end in it, as in nearly all
    for (char c : caption) is_plain &= (c < '\n' || c > '\r') & (c != '\xE2');
    if (is_plain) {
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
            if (!quick.is_odd()) return after;
            quick.undo();
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
