#include "stemmer.hpp"

#include <cstddef>
#include <string_view>

#include "strings.hpp"
#include "unicode.hpp"

namespace reelscore {
namespace {

using std::size_t;
using std::string_view;

// Stands for any UTF-16 unit outside ASCII. Snowball's Java code counts such units, and no rule
// names, changes or removes one, so the letters can be put back afterwards in their order.
constexpr char kForeign = '\x80';

struct Rewrite {
    string_view from, to;
};

constexpr Rewrite kWholeWords[] = {
    {"skis", "ski"},    {"skies", "sky"},   {"dying", "die"},    {"lying", "lie"},
    {"tying", "tie"},   {"idly", "idl"},    {"gently", "gentl"}, {"ugly", "ugli"},
    {"early", "earli"}, {"only", "onli"},   {"singly", "singl"}, {"sky", "sky"},
    {"news", "news"},   {"howe", "howe"},   {"atlas", "atlas"},  {"cosmos", "cosmos"},
    {"bias", "bias"},   {"andes", "andes"},
};
constexpr string_view kLeftAloneAfterPlural[] = {"inning",  "outing",  "canning", "herring",
                                                 "earring", "proceed", "exceed",  "succeed"};
constexpr string_view kPrefixesOfRegion1[] = {"gener", "commun", "arsen"};

// In each table a suffix stands after every longer one that it ends, so that the first hit is
// the longest.
constexpr Rewrite kStep2[] = {
    {"ational", "ate"}, {"fulness", "ful"}, {"iveness", "ive"}, {"ization", "ize"},
    {"ousness", "ous"}, {"biliti", "ble"},  {"lessli", "less"}, {"tional", "tion"},
    {"alism", "al"},    {"aliti", "al"},    {"ation", "ate"},   {"entli", "ent"},
    {"fulli", "ful"},   {"iviti", "ive"},   {"ousli", "ous"},   {"abli", "able"},
    {"alli", "al"},     {"anci", "ance"},   {"ator", "ate"},    {"enci", "ence"},
    {"izer", "ize"},    {"bli", "ble"},     {"ogi", "og"},      {"li", ""},
};
constexpr Rewrite kStep3[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"ative", ""}, {"icate", "ic"},
    {"iciti", "ic"},    {"ical", "ic"},     {"ness", ""},    {"ful", ""},
};
constexpr string_view kStep4[] = {"ement", "able", "ance", "ence", "ible", "ment",
                                  "ant",   "ate",  "ent",  "ion",  "ism",  "iti",
                                  "ive",   "ize",  "ous",  "al",   "er",   "ic"};

bool is_one_of(char letter, string_view letters) {
    return letters.find(letter) != string_view::npos;
}
bool is_vowel(char letter) {
    return letter == 'a' || letter == 'e' || letter == 'i' || letter == 'o' || letter == 'u' ||
           letter == 'y';
}

// A word of one char per UTF-16 unit. A y that acts as a consonant is written Y meanwhile.
class Porter2 {
  public:
    explicit Porter2(std::string& word) : word_(word) {}

    void run() {
        for (const Rewrite& exception : kWholeWords) {
            if (word_ == exception.from) {
                word_ = exception.to;
                return;
            }
        }
        if (word_.size() < 3) return;
        if (word_[0] == '\'') word_.erase(0, 1);
        mark_consonant_ys();
        find_regions();
        remove_possessive();
        step_1a();
        if (!is_left_alone()) {
            step_1b();
            step_1c();
            step_2();
            step_3();
            step_4();
            step_5();
        }
        restore_ys();
    }

  private:
    void mark_consonant_ys() {
        for (size_t k = 0; k < word_.size(); ++k) {
            if (word_[k] == 'y' && (k == 0 || is_vowel(word_[k - 1]))) {
                word_[k] = 'Y';
                has_marked_ys_ = true;
            }
        }
    }

    void restore_ys() {
        if (!has_marked_ys_) return;
        for (char& letter : word_) {
            if (letter == 'Y') letter = 'y';
        }
    }

    // Just past the first non-vowel that follows a vowel at or after begin.
    size_t after_vowel_and_consonant(size_t begin) const {
        size_t k = begin;
        while (k < word_.size() && !is_vowel(word_[k])) ++k;
        while (k < word_.size() && is_vowel(word_[k])) ++k;
        return k < word_.size() ? k + 1 : word_.size();
    }

    void find_regions() {
        region1_ = after_vowel_and_consonant(0);
        for (string_view prefix : kPrefixesOfRegion1) {
            if (string_view(word_).substr(0, prefix.size()) == prefix) region1_ = prefix.size();
        }
        region2_ = after_vowel_and_consonant(region1_);
    }

    bool ends(string_view suffix) const { return ends_with(word_, suffix); }
    bool in_region(size_t region, string_view suffix) const {
        return word_.size() - suffix.size() >= region;
    }
    void cut(size_t letters) { word_.resize(word_.size() - letters); }
    void replace(string_view suffix, string_view by) {
        cut(suffix.size());
        word_.append(by);
    }
    char letter_before(string_view suffix) const {
        return word_.size() > suffix.size() ? word_[word_.size() - suffix.size() - 1] : '\0';
    }
    bool has_vowel_before(size_t end) const {
        for (size_t k = 0; k < end; ++k) {
            if (is_vowel(word_[k])) return true;
        }
        return false;
    }

    // Whether the first `end` letters close with a short syllable.
    bool is_short_syllable(size_t end) const {
        if (end == 2) return is_vowel(word_[0]) && !is_vowel(word_[1]);
        return end > 2 && !is_vowel(word_[end - 3]) && is_vowel(word_[end - 2]) &&
               !is_one_of(word_[end - 1], "aeiouywxY");
    }

    void remove_possessive() {
        for (string_view suffix : {"'s'", "'s", "'"}) {
            if (ends(suffix)) return cut(suffix.size());
        }
    }

    void step_1a() {
        if (ends("sses")) {
            cut(2);
        } else if (ends("ied") || ends("ies")) {
            cut(word_.size() > 4 ? 2 : 1);
        } else if (ends("s") && !ends("us") && !ends("ss") && word_.size() > 2 &&
                   has_vowel_before(word_.size() - 2)) {
            cut(1);
        }
    }

    bool is_left_alone() const {
        for (string_view word : kLeftAloneAfterPlural) {
            if (word_ == word) return true;
        }
        return false;
    }

    void step_1b() {
        for (string_view suffix : {"eedly", "ingly", "edly", "eed", "ing", "ed"}) {
            if (!ends(suffix)) continue;
            if (suffix == "eed" || suffix == "eedly") {
                if (in_region(region1_, suffix)) replace(suffix, "ee");
            } else if (has_vowel_before(word_.size() - suffix.size())) {
                cut(suffix.size());
                mend_after_1b();
            }
            return;
        }
    }

    void mend_after_1b() {
        if (ends("at") || ends("bl") || ends("iz")) {
            word_.push_back('e');
        } else if (word_.size() >= 2 && word_.back() == word_[word_.size() - 2] &&
                   is_one_of(word_.back(), "bdfgmnprt")) {
            cut(1);
        } else if (word_.size() == region1_ && is_short_syllable(word_.size())) {
            word_.push_back('e');
        }
    }

    void step_1c() {
        if (word_.size() > 2 && is_one_of(word_.back(), "yY") &&
            !is_vowel(word_[word_.size() - 2])) {
            word_.back() = 'i';
        }
    }

    void step_2() {
        for (const Rewrite& rule : kStep2) {
            if (!ends(rule.from)) continue;
            const char before = letter_before(rule.from);
            const bool allowed = in_region(region1_, rule.from) &&
                                 (rule.from != "ogi" || before == 'l') &&
                                 (rule.from != "li" || is_one_of(before, "cdeghkmnrt"));
            if (allowed) replace(rule.from, rule.to);
            return;
        }
    }

    void step_3() {
        for (const Rewrite& rule : kStep3) {
            if (!ends(rule.from)) continue;
            const size_t region = rule.from == "ative" ? region2_ : region1_;
            if (in_region(region1_, rule.from) && in_region(region, rule.from)) {
                replace(rule.from, rule.to);
            }
            return;
        }
    }

    void step_4() {
        for (string_view suffix : kStep4) {
            if (!ends(suffix)) continue;
            const bool allowed = suffix != "ion" || is_one_of(letter_before(suffix), "st");
            if (allowed && in_region(region2_, suffix)) cut(suffix.size());
            return;
        }
    }

    void step_5() {
        if (ends("e")) {
            if (in_region(region2_, "e") ||
                (in_region(region1_, "e") && !is_short_syllable(word_.size() - 1))) {
                cut(1);
            }
        } else if (ends("ll") && in_region(region2_, "l")) {
            cut(1);
        }
    }

    std::string& word_;
    size_t region1_ = 0, region2_ = 0;
    bool has_marked_ys_ = false;
};

void stem_with_foreign_letters(std::string& word) {
    std::string units, foreign;
    for (size_t k = 0; k < word.size();) {
        const size_t begin = k;
        const char32_t code_point = decode(word, k);
        if (code_point < 0x80) {
            units.push_back(static_cast<char>(code_point));
        } else {
            units.append(code_point < 0x10000 ? 1 : 2, kForeign);
            foreign.append(word, begin, k - begin);
        }
    }
    Porter2(units).run();
    word.clear();
    size_t next_foreign = 0;
    for (size_t k = 0; k < units.size(); ++k) {
        if (units[k] != kForeign) {
            word.push_back(units[k]);
            continue;
        }
        const char32_t code_point = decode(foreign, next_foreign);
        append_utf8(word, code_point);
        if (code_point >= 0x10000) ++k;
    }
}

}  // namespace

void stem(std::string& word) {
    if (is_ascii(word)) {
        Porter2(word).run();
    } else {
        stem_with_foreign_letters(word);
    }
}

}  // namespace reelscore
