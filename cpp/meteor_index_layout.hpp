// How the METEOR index lies in its file: shared by its reader and its builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hashing.hpp"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The METEOR index is little-endian; this machine is not."
#endif

namespace reelscore::language {

constexpr char kMagic[8] = {'r', 'e', 'e', 'l', 'l', 'a', 'n', 'g'};

// The order in which the arrays lie in the blob.
enum Section : std::size_t {
    kTexts,
    kSlots,
    kTextOffsets,
    kFlags,
    kSynsetOffsets,
    kSynsets,
    kIrregularForms,
    kBases,
    kNodeWords,
    kParentBits,
    kParentRanks,
    kGroupBits,
    kGroupSamples,
    kSourceBits,
    kTargetBits,
    kListOffsets,
    kLists,
    kSectionCount
};

constexpr std::uint32_t kGroupsPerSample = 16;

struct Extent {
    std::uint64_t offset, size;  // in bytes
};

struct Header {
    char magic[8];
    std::uint64_t blob_size;
    std::uint64_t checksum;  // of everything after this field
    std::uint32_t version;
    std::uint32_t root_end;
    std::uint32_t longest_phrase;
    std::uint32_t reserved;
    Extent sections[kSectionCount];
};
static_assert(sizeof(Header) == 40 + 16 * kSectionCount, "the header has no padding");
constexpr std::size_t kChecksumFrom = offsetof(Header, version);

// Each step can be undone, so that no change of a word gets lost on the way. Without products, and
// in sixteen independent lanes, compilers make vectors of it; memory is the limit then.
inline std::uint64_t checksum(const std::byte* bytes, std::size_t size) {
    constexpr std::size_t kLanes = 16;
    std::uint64_t lanes[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = lane * kPrime2;
    std::size_t k = 0;
    for (; k + sizeof lanes <= size; k += sizeof lanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            lanes[lane] = rotate(lanes[lane] ^ load64(bytes + k + 8 * lane), 29) + kPrime1;
        }
    }
    std::uint64_t sum = size;
    for (std::uint64_t lane : lanes) sum = mix(sum ^ lane);
    for (; k < size; ++k) sum = mix(sum ^ static_cast<std::uint64_t>(bytes[k]));
    return sum;
}

}  // namespace reelscore::language
