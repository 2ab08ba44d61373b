// Compiles METEOR's language data, unpacked from models/meteor/english.tar.xz, into the language
// index. Part of the build: what took ten seconds at the first use is done once.
//
// make_language_index FOLDER INDEX
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../cpp/language_index_builder.hpp"

namespace {

constexpr unsigned char kNewPhrase = 255;

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path + " cannot be read");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> found;
    for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
        found.push_back(text.substr(begin, end - begin));
    }
    return found;
}

// Reads phrases in the form that models/meteor/pack.py describes.
class PackedPhrases {
  public:
    explicit PackedPhrases(const std::string& folder)
        : words_(lines(content(folder + "/words"))),
          shapes_(content(folder + "/shapes")),
          numbers_(content(folder + "/numbers")) {}

    using Phrase = std::vector<std::uint32_t>;

    bool at_end() const { return shape_ == shapes_.size(); }
    bool at_new_phrase() const { return byte_at(shapes_, shape_) == kNewPhrase; }
    void pass_mark() { ++shape_; }

    Phrase next(const Phrase& begin, const Phrase& end) {
        const unsigned shape = byte_at(shapes_, shape_++);
        const std::size_t first = shape & 7, last = shape >> 3 & 3, others = shape >> 5;
        if (first > begin.size() || last > end.size()) {
            throw std::runtime_error("shapes: more words in common than there are");
        }
        Phrase phrase(begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(first));
        for (std::size_t k = 0; k < others; ++k, number_ += 2) {
            phrase.push_back(byte_at(numbers_, number_) | byte_at(numbers_, number_ + 1) << 8);
        }
        phrase.insert(phrase.end(), end.end() - static_cast<std::ptrdiff_t>(last), end.end());
        return phrase;
    }

    void spell(const Phrase& phrase, std::string& text) const {
        for (std::uint32_t word : phrase) text.append(words_.at(word)).push_back(' ');
        text.back() = '\n';
    }

  private:
    static unsigned byte_at(const std::string& bytes, std::size_t place) {
        return static_cast<unsigned char>(bytes.at(place));
    }

    std::vector<std::string> words_;
    std::string shapes_, numbers_;
    std::size_t shape_ = 0, number_ = 0;
};

std::string build(const std::string& folder) {
    reelscore::LanguageIndexBuilder builder;
    builder.add_function_words(content(folder + "/function_words"));
    builder.add_prefixes(content(folder + "/prefixes"));
    builder.add_exceptions(content(folder + "/exceptions"));
    builder.add_synsets(content(folder + "/synsets"));
    PackedPhrases phrases(folder);
    PackedPhrases::Phrase source, target;
    std::string entry;
    while (!phrases.at_end()) {
        if (phrases.at_new_phrase()) {
            phrases.pass_mark();
            target = source = phrases.next(source, {});
            continue;
        }
        target = phrases.next(target, source);
        entry = "\n";  // in place of the probability
        phrases.spell(source, entry);
        phrases.spell(target, entry);
        builder.add_paraphrases(entry);
    }
    return builder.finish();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fputs("usage: make_language_index FOLDER INDEX\n", stderr);
        return 2;
    }
    try {
        const std::string blob = build(arguments[1]);
        std::ofstream file(arguments[2], std::ios::binary);
        if (!file.write(blob.data(), static_cast<std::streamsize>(blob.size())).flush()) {
            throw std::runtime_error(std::string(arguments[2]) + " cannot be written");
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make_language_index: %s\n", error.what());
        return 1;
    }
    return 0;
}
