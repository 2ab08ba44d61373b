// Compiles METEOR's text files into the METEOR index: a step of the build, and of tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reelscore {

// Collects the text files (UTF-8) and writes the blob. Throws std::invalid_argument when a file
// does not have the expected form.
class MeteorIndexBuilder {
  public:
    MeteorIndexBuilder();
    ~MeteorIndexBuilder();

    void add_function_words(std::string_view text);  // one word a line
    void add_prefixes(std::string_view text);        // Moses list: "Mr", "No #NUMERIC_ONLY#"
    void add_exceptions(std::string_view text);      // base / irregular forms, in pairs of lines
    void add_synsets(std::string_view text);         // word / synset numbers, in pairs of lines
    // Number / phrase / paraphrase, three lines an entry, in chunks that may end anywhere.
    void add_paraphrases(std::string_view chunk);
    // The same, one entry at a time, in numbers of words that `word_id` gives. Quickest where
    // phrases begin like those before them.
    using Words = std::vector<std::uint32_t>;
    std::uint32_t word_id(std::string_view word);
    void add_paraphrase(const Words& phrase, const Words& paraphrase);
    // The finished blob. The builder is empty afterwards.
    std::string finish();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace reelscore
