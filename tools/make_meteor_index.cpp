// Compiles METEOR's language data, unpacked from models/meteor/english.tar.xz, into the language
// index. Part of the build: what took ten seconds at the first use is done once.
//
// make_meteor_index FOLDER INDEX
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../cpp/meteor_index_builder.hpp"

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

// Reads phrases in the form that models/meteor/pack.py describes, with the builder's word ids.
class PackedPhrases {
  public:
    using Phrase = reelscore::MeteorIndexBuilder::Words;

    PackedPhrases(const std::string& folder, reelscore::MeteorIndexBuilder& builder)
        : shapes_(content(folder + "/shapes")), numbers_(content(folder + "/numbers")) {
        for (const std::string& word : lines(content(folder + "/words"))) {
            word_ids_.push_back(builder.word_id(word));
        }
    }

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
            const unsigned high = byte_at(numbers_, number_ + 1);
            phrase.push_back(word_ids_.at(byte_at(numbers_, number_) | high << 8));
        }
        phrase.insert(phrase.end(), end.end() - static_cast<std::ptrdiff_t>(last), end.end());
        return phrase;
    }

  private:
    static unsigned byte_at(const std::string& bytes, std::size_t place) {
        return static_cast<unsigned char>(bytes.at(place));
    }

    Phrase word_ids_;
    std::string shapes_, numbers_;
    std::size_t shape_ = 0, number_ = 0;
};

std::string build(const std::string& folder) {
    reelscore::MeteorIndexBuilder builder;
    builder.add_function_words(content(folder + "/function_words"));
    builder.add_prefixes(content(folder + "/prefixes"));
    builder.add_exceptions(content(folder + "/exceptions"));
    builder.add_synsets(content(folder + "/synsets"));
    PackedPhrases phrases(folder, builder);
    PackedPhrases::Phrase source, target;
    while (!phrases.at_end()) {
        if (phrases.at_new_phrase()) {
            phrases.pass_mark();
            target = source = phrases.next(source, {});
            continue;
        }
        target = phrases.next(target, source);
        builder.add_paraphrase(source, target);
    }
    return builder.finish();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fputs("usage: make_meteor_index FOLDER INDEX\n", stderr);
        return 2;
    }
    try {
        const std::string blob = build(arguments[1]);
        std::ofstream file(arguments[2], std::ios::binary);
        if (!file.write(blob.data(), static_cast<std::streamsize>(blob.size())).flush()) {
            throw std::runtime_error(std::string(arguments[2]) + " cannot be written");
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make_meteor_index: %s\n", error.what());
        return 1;
    }
    return 0;
}
