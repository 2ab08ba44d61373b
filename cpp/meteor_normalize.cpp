#include "meteor_normalize.hpp"

#include <algorithm>
#include <cstddef>

#include "unicode.hpp"

namespace reelscore {
namespace {

using std::size_t;
using std::string_view;

bool is_digit(char32_t c) {
    return c >= U'0' && c <= U'9';
}
bool is_lower_ascii(char32_t c) {
    return c >= U'a' && c <= U'z';
}
bool is_blank(char32_t c) {
    return c == U' ' || (c >= U'\t' && c <= U'\r');
}

// The letters that METEOR's rules know: Latin, Cyrillic and a few more.
bool is_letter(char32_t c) {
    if (c < 0x80) return is_lower_ascii(c | 0x20);
    return (c >= 0xC0 && c <= 0x17E && c != 0xD7 && c != 0xF7) || (c >= 0x400 && c <= 0x527) ||
           (c >= 0x1D00 && c <= 0x1D7F) || (c >= 0xA640 && c <= 0xA66E) ||
           (c >= 0xA67E && c <= 0xA697);
}
bool is_alphanumeric(char32_t c) {
    return is_digit(c) || is_letter(c);
}

bool is_single_quote(char32_t c) {
    return c == U'`' || c == 0x2018 || c == 0x2019;
}
bool is_double_quote(char32_t c) {
    return c == 0x201C || c == 0x201D;
}

constexpr char32_t kEnDash = 0x2013;

string_view trim(string_view text) {
    const auto kept = [](char c) { return static_cast<unsigned char>(c) > 0x20; };
    const auto begin = std::find_if(text.begin(), text.end(), kept);
    const auto end = std::find_if(text.rbegin(), text.rend(), kept).base();
    return begin < end ? text.substr(static_cast<size_t>(begin - text.begin()),
                                     static_cast<size_t>(end - begin))
                       : string_view();
}

// Text made of lower-case words and blanks only comes out of all the rules as it went in.
// Without a branch at each character, so that many are looked at at once.
bool is_plain(string_view text) {
    std::uint8_t others = 0;
    for (char c : text) {
        const auto above_a = static_cast<std::uint8_t>(c - 'a');
        const auto above_0 = static_cast<std::uint8_t>(c - '0');
        const std::uint8_t is_no_letter = above_a > 25, is_no_digit = above_0 > 9;
        const std::uint8_t is_no_blank = c != ' ';
        others |= is_no_letter & is_no_digit & is_no_blank;
    }
    return others == 0;
}

// METEOR's own stand-in for a run of n dots is n times "DOT" and "MULTI": letters, so that later
// rules leave it alone. Texts that contain these letters are mangled, and here just the same way.
constexpr std::u32string_view kDot = U"DOT", kMulti = U"MULTI", kDotMulti = U"DOTMULTI";

bool stands_at(const std::u32string& text, size_t k, std::u32string_view what) {
    return text.compare(k, what.size(), what) == 0;
}

}  // namespace

bool MeteorNormalizer::is_wide_blank(char32_t c) {
    return is_token_end(c) || c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

// Step 1: the text between two blanks. Also finds out which rules have anything to do: none of
// them brings in a sign that another one handles.
void MeteorNormalizer::load(string_view text) {
    has_dots_ = has_commas_ = has_quotes_ = has_dashes_ = false;
    text_.clear();
    text_.push_back(U' ');
    for (size_t k = 0; k < text.size();) {
        const char32_t c = decode(text, k);
        has_dots_ |= c == U'.' || c == U'M';  // the letters DOTMULTI count as dots, see below
        has_commas_ |= c == U',';
        has_quotes_ |= c == U'\'' || is_single_quote(c) || is_double_quote(c);
        has_dashes_ |= c == U'-' || c == kEnDash;
        text_.push_back(c);
    }
    text_.push_back(U' ');
}

// Step 2: blanks round everything that later rules do not look at.
void MeteorNormalizer::space_out_symbols() {
    constexpr std::u32string_view kHandledLater = U".',-";
    next_.clear();
    for (char32_t c : text_) {
        if (is_alphanumeric(c) || is_blank(c) || is_single_quote(c) ||
            kHandledLater.find(c) != std::u32string_view::npos) {
            next_.push_back(c);
        } else {
            next_.append({U' ', c, U' '});
        }
    }
    text_.swap(next_);
}

// Step 3. METEOR first turns every run of n > 1 dots into a blank, DOTMULTI and n - 1 dots. Then
// it swallows one dot per pass, all over the text; the pass that swallows the last dot of a run
// sets a blank before the following character x. That rule matches x too, so a DOTMULTI that
// begins with this very x and loses its last dot in the same pass gets no blank.
void MeteorNormalizer::protect_dot_runs() {
    next_.clear();
    for (size_t k = 0; k < text_.size();) {
        const size_t begin = k;
        while (k < text_.size() && text_[k] == U'.') ++k;
        if (k - begin >= 2) {
            next_.push_back(U' ');
            next_.append(kDotMulti);
            next_.append(k - begin - 1, U'.');
        } else if (k > begin) {
            next_.push_back(U'.');
        } else {
            next_.push_back(text_[k++]);
        }
    }
    text_.swap(next_);

    next_.clear();
    size_t taken_start = text_.size(), taken_dots = 0;  // the x of the rule, and its pass
    for (size_t k = 0; k < text_.size();) {
        if (!stands_at(text_, k, kDotMulti)) {
            next_.push_back(text_[k++]);
            continue;
        }
        const size_t start = k;
        k += kDotMulti.size();
        size_t dots = 0;
        for (; k < text_.size() && text_[k] == U'.'; ++k, ++dots) next_.append(kDot);
        next_.append(kDotMulti);
        if (dots == 0 || (start == taken_start && dots == taken_dots)) continue;
        next_.push_back(U' ');
        taken_start = k;
        taken_dots = dots;
    }
    text_.swap(next_);
}

// "x mark y" becomes "x by y" where both neighbours qualify. As in a regular expression, y is
// used up: it cannot be the x of the next place.
template <typename Before, typename After>
void MeteorNormalizer::replace_between(char32_t mark, Before before, After after,
                                       std::u32string_view by) {
    next_.clear();
    for (size_t k = 0; k < text_.size();) {
        if (k + 2 < text_.size() && text_[k + 1] == mark && before(text_[k]) &&
            after(text_[k + 2])) {
            next_.push_back(text_[k]);
            next_.append(by);
            next_.push_back(text_[k + 2]);
            k += 3;
        } else {
            next_.push_back(text_[k++]);
        }
    }
    text_.swap(next_);
}

// Step 4: commas, except between digits.
void MeteorNormalizer::space_commas() {
    const auto not_digit = [](char32_t c) { return !is_digit(c); };
    replace_between(U',', not_digit, not_digit, U" , ");
    replace_between(U',', is_digit, not_digit, U" , ");
    replace_between(U',', not_digit, is_digit, U" , ");
}

// Step 5: single quotes become apostrophes; double ones, and two apostrophes, the sign ".
void MeteorNormalizer::unify_quotes() {
    for (char32_t& c : text_) {
        if (is_single_quote(c)) c = U'\'';
    }
    next_.clear();
    for (size_t k = 0; k < text_.size(); ++k) {
        const bool two = text_[k] == U'\'' && k + 1 < text_.size() && text_[k + 1] == U'\'';
        if (two || is_double_quote(text_[k])) {
            next_.append(U" \" ");
            k += two;
        } else {
            next_.push_back(text_[k]);
        }
    }
    text_.swap(next_);
}

// Step 6: the en dash becomes a hyphen, two hyphens become one.
void MeteorNormalizer::unify_dashes() {
    next_.clear();
    std::replace(text_.begin(), text_.end(), kEnDash, U'-');
    for (size_t k = 0; k < text_.size(); ++k) {
        next_.push_back(text_[k]);
        if (text_[k] == U'-' && k + 1 < text_.size() && text_[k + 1] == U'-') ++k;
    }
    text_.swap(next_);
}

// Step 7: hyphens inside words.
void MeteorNormalizer::split_hyphens() {
    const auto before = [](char32_t c) { return is_alphanumeric(c) || c == U'.'; };
    replace_between(U'-', before, is_alphanumeric, U" ");
}

// Step 8: apostrophes stand alone, but begin a word in contractions (don 't, man 's).
void MeteorNormalizer::split_apostrophes() {
    const auto not_letter = [](char32_t c) { return !is_letter(c); };
    const auto not_alphanumeric = [](char32_t c) { return !is_alphanumeric(c); };
    const auto is_s = [](char32_t c) { return c == U's'; };
    replace_between(U'\'', not_letter, not_letter, U" ' ");
    replace_between(U'\'', not_alphanumeric, is_letter, U" ' ");
    replace_between(U'\'', is_letter, not_letter, U" ' ");
    replace_between(U'\'', is_letter, is_letter, U" '");
    replace_between(U'\'', is_digit, is_s, U" '");
}

// Step 9: dots at the end of tokens.
void MeteorNormalizer::split_final_dots() {
    next_.clear();
    size_t k = 0;
    const auto skip_blanks = [&] {
        while (k < text_.size() && is_token_end(text_[k])) ++k;
    };
    skip_blanks();
    while (k < text_.size()) {
        const size_t begin = next_.size();
        while (k < text_.size() && !is_token_end(text_[k])) next_.push_back(text_[k++]);
        skip_blanks();
        end_token(begin, k < text_.size() ? text_[k] : U' ');
        next_.push_back(U' ');
    }
    text_.swap(next_);
}

// Decides about the token that begins at next_[begin]; `next` opens the token after it.
void MeteorNormalizer::end_token(size_t begin, char32_t next) {
    if (next_.size() - begin < 2 || next_.back() != U'.') return;
    const auto first = next_.begin() + static_cast<std::ptrdiff_t>(begin), last = next_.end() - 1;
    if (std::find(first, last, U'.') != last && std::any_of(first, last, is_letter)) {
        next_.erase(std::remove(first, next_.end(), U'.'), next_.end());
        return;
    }
    if (is_lower_ascii(next)) return;
    prefix_.clear();
    std::for_each(first, last, [&](char32_t c) { append_utf8(prefix_, c); });
    const std::uint32_t word = index_.find(prefix_);
    if (word != MeteorIndex::kNone) {
        if (index_.is_prefix(word)) return;
        if (index_.is_numeric_prefix(word) && is_digit(next)) return;
    }
    next_.back() = U' ';
    next_.push_back(U'.');
}

// Step 10: n times DOT before MULTI becomes n dots.
void MeteorNormalizer::restore_dot_runs() {
    next_.clear();
    size_t dots = 0;  // DOTs at the end of next_
    for (size_t k = 0; k < text_.size();) {
        if (stands_at(text_, k, kDot)) {
            next_.append(kDot);
            k += kDot.size();
            ++dots;
            continue;
        }
        if (dots > 0 && stands_at(text_, k, kMulti)) {
            next_.resize(next_.size() - dots * kDot.size());
            next_.append(dots, U'.');
            k += kMulti.size();
        } else {
            next_.push_back(text_[k++]);
        }
        dots = 0;
    }
    text_.swap(next_);
}

// Step 11: one blank between words, none at the ends.
void MeteorNormalizer::store_squeezed(std::string& out) const {
    out.clear();
    for (size_t k = 0; k < text_.size(); ++k) {
        if (!is_wide_blank(text_[k])) {
            append_utf8(out, text_[k]);
        } else if (k == 0 || !is_wide_blank(text_[k - 1])) {
            out.push_back(' ');
        }
    }
    const string_view kept = trim(out);
    const size_t begin = kept.empty() ? 0 : static_cast<size_t>(kept.data() - out.data());
    out.erase(begin + kept.size());
    out.erase(0, begin);
}

void MeteorNormalizer::normalize_into(string_view text, std::string& out) {
    load(text);
    space_out_symbols();
    if (has_dots_) protect_dot_runs();
    if (has_commas_) space_commas();
    if (has_quotes_) unify_quotes();
    if (has_dashes_) {
        unify_dashes();
        split_hyphens();
    }
    if (has_quotes_) split_apostrophes();
    if (has_dots_) {
        split_final_dots();
        restore_dot_runs();
    }
    store_squeezed(out);
}

std::string MeteorNormalizer::normalize(string_view text) {
    std::string out;
    normalize_into(text, out);
    return out;
}

// The text such that its words stand between blanks.
string_view MeteorNormalizer::spaced_words(string_view text, bool normalize) {
    text = trim(text);
    if (is_plain(text)) return text;
    if (normalize) {
        normalize_into(text, normalized_);
        text = normalized_;
    }
    lower_.clear();
    append_lower(lower_, text);
    return lower_;
}

}  // namespace reelscore
