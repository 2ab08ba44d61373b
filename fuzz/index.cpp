// A METEOR index with any damage: it is refused, or read without leaving it.
#include <array>
#include <stdexcept>

#include "../cpp/meteor.hpp"
#include "input.hpp"

using namespace reelscore;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string blob = fuzz::small_index();
    // Pairs of bytes say where the index is changed, and to what.
    for (std::size_t k = 0; k + 2 < size; k += 3) {
        blob[(data[k] * 256u + data[k + 1]) % blob.size()] = static_cast<char>(data[k + 2]);
    }
    if (size % 3 == 1) blob.resize(data[size - 1] * blob.size() / 256);
    const auto* bytes = reinterpret_cast<const std::byte*>(blob.data());
    if (size > 2 && blob != fuzz::small_index()) fuzz::require(!intact(bytes, blob.size()));
    try {
        const MeteorIndex index(bytes, blob.size());
        meteor_alignment(index, "a man went to many cars", "a lot of men go to the automobile", {});
    } catch (const std::invalid_argument&) {
    }
    return 0;
}
