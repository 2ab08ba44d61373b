// The stemmer on any lower-case word: no fault, and a stem is no longer than its word and a byte
// ("hop" from "hopp…", "e" put back).
#include "../cpp/stemmer.hpp"

#include "input.hpp"

using namespace reelscore;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string word;
    append_lower(word, fuzz::valid_utf8({reinterpret_cast<const char*>(data), size}));
    std::string stemmed = word;
    stem(stemmed);
    fuzz::require(stemmed.size() <= word.size() + 1);
    return 0;
}
