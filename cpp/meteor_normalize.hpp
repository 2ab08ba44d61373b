// From a caption to METEOR's words: the punctuation rules of METEOR 1.5 for English ("-norm"),
// then lower case, then a split at blanks. Linear in the length of any text.
#pragma once

#include <string>
#include <string_view>

#include "language_index.hpp"
#include "strings.hpp"

namespace reelscore {

// Keeps its buffers from call to call; one per thread.
class MeteorNormalizer {
  public:
    explicit MeteorNormalizer(const LanguageIndex& index) : index_(index) {}

    // The normalised text, its case untouched.
    std::string normalize(std::string_view text);

    // Appends the words of a caption; without normalising, only case and blanks are dealt with.
    // Returns how many.
    std::size_t append_words(std::string_view text, bool normalize, Strings& words);

  private:
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

    const LanguageIndex& index_;
    std::u32string text_, next_;  // each rule reads text_, writes next_ and swaps them
    bool has_dots_ = false, has_commas_ = false, has_quotes_ = false, has_dashes_ = false;
    std::string normalized_, lower_, prefix_;
};

}  // namespace reelscore
