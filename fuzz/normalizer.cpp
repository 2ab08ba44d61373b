// METEOR's normaliser: no fault, and a normalizer used before gives what a new one gives.
#include "../cpp/meteor_normalize.hpp"
#include "input.hpp"

using namespace reelscore;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string& blob = fuzz::small_index();
    const MeteorIndex index(reinterpret_cast<const std::byte*>(blob.data()), blob.size());
    static MeteorNormalizer* used = nullptr;
    static const MeteorIndex* kept = nullptr;
    if (used == nullptr) {
        kept = new MeteorIndex(index);
        used = new MeteorNormalizer(*kept);
    }
    const std::string text = fuzz::valid_utf8({reinterpret_cast<const char*>(data), size});
    MeteorNormalizer fresh(index);
    fuzz::require(fresh.normalize(text) == used->normalize(text));
    fresh.visit_words(text, true, [](std::string_view word, std::uint64_t hash) {
        fuzz::require(!word.empty() && hash == reelscore::hash_bytes(word));
    });
    return 0;
}
