// From a caption to METEOR's words: the punctuation rules of METEOR 1.5 for English ("-norm"),
// then lower case, then a split at blanks. Linear in the length of any text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "meteor_index.hpp"
#include "plain_words.hpp"

namespace reelscore {

// Keeps its buffers from call to call; one per thread.
class MeteorNormalizer {
  public:
    explicit MeteorNormalizer(const MeteorIndex& index) : index_(index) {}

    // The normalised text, its case untouched.
    std::string normalize(std::string_view text);

    // Calls visit(word, hash_bytes(word)) for each word of a caption, which is gone after the call;
    // without normalising, only case and blanks are dealt with.
    template <typename Visit>
    void visit_words(std::string_view text, bool normalize, Visit&& visit) {
        text = spaced_words(text, normalize);
        if (is_visible_ascii(text)) {
            split_at_blanks(text, [&](std::string_view word, std::uint64_t hash) {
                if (!word.empty()) visit(word, hash);
            });
            return;
        }
        for (std::size_t k = 0; k < text.size(); ++k) {
            const std::size_t begin = k;
            while (k < text.size() && !is_token_end(static_cast<unsigned char>(text[k]))) ++k;
            const std::string_view word = text.substr(begin, k - begin);
            if (!word.empty()) visit(word, hash_bytes(word));
        }
    }

  private:
    // METEOR's early rules count the vertical tab among the blanks; the split into tokens and the
    // squeezing of blanks do not, so it stays inside a word.
    static bool is_token_end(char32_t c) {
        return c == U' ' || (c >= U'\t' && c <= U'\r' && c != U'\v');
    }
    static bool is_wide_blank(char32_t c);

    std::string_view spaced_words(std::string_view text, bool normalize);
    void load(std::string_view text);
    void space_out_symbols();
    void protect_dot_runs();
    void space_commas();
    void unify_quotes();
    void unify_dashes();
    void split_hyphens();
    void split_apostrophes();
    void split_final_dots();
    void end_token(std::size_t begin, char32_t next);
    void restore_dot_runs();
    void store_squeezed(std::string& out) const;
    void normalize_into(std::string_view text, std::string& out);

    template <typename Before, typename After>
    void replace_between(char32_t mark, Before before, After after, std::u32string_view by);

    const MeteorIndex& index_;
    std::u32string text_, next_;  // each rule reads text_, writes next_ and swaps them
    bool has_dots_ = false, has_commas_ = false, has_quotes_ = false, has_dashes_ = false;
    std::string normalized_, lower_, prefix_;
};

}  // namespace reelscore
