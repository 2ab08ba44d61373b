#include "meteor_index.hpp"

#include <algorithm>
#include <stdexcept>

#include "bits.hpp"
#include "meteor_index_layout.hpp"

namespace reelscore {
using namespace language;
namespace {

using std::size_t;
using std::string_view;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

Header read_header(const std::byte* bytes, size_t size) {
    Header header;
    if (size < sizeof header) throw std::invalid_argument("METEOR index: too short");
    std::memcpy(&header, bytes, sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
        throw std::invalid_argument("METEOR index: not a METEOR index");
    }
    if (header.version != kMeteorIndexFormat) {
        throw std::invalid_argument("METEOR index: made by another version");
    }
    if (header.blob_size != size) throw std::invalid_argument("METEOR index: wrong size");
    for (const Extent& extent : header.sections) {
        if (extent.offset > size || extent.size > size - extent.offset) {
            throw std::invalid_argument("METEOR index: a section lies outside");
        }
    }
    return header;
}

template <typename Value>
BlobArray<Value> section(const std::byte* bytes, const Header& header, Section which) {
    const Extent& extent = header.sections[which];
    if (extent.size % sizeof(Value) != 0) {
        throw std::invalid_argument("METEOR index: a section has a broken size");
    }
    return {bytes + extent.offset, static_cast<size_t>(extent.size / sizeof(Value))};
}

void expect(bool consistent) {
    if (!consistent) throw std::invalid_argument("METEOR index: sizes disagree");
}

// values[offsets[k] .. offsets[k + 1]), whatever the offsets are.
BlobSpan list_at(const BlobArray<uint32_t>& offsets, const BlobArray<uint32_t>& values, size_t k) {
    const size_t end = std::min<size_t>(offsets[k + 1], values.size());
    return {&values, std::min<size_t>(offsets[k], end), end};
}

}  // namespace

bool intact(const std::byte* bytes, size_t size) {
    try {
        const Header header = read_header(bytes, size);
        return header.checksum == checksum(bytes + kChecksumFrom, size - kChecksumFrom);
    } catch (const std::invalid_argument&) {
        return false;
    }
}

MeteorIndex::MeteorIndex(const std::byte* bytes, size_t size) {
    const Header header = read_header(bytes, size);
    texts_ = reinterpret_cast<const char*>(bytes + header.sections[kTexts].offset);
    texts_size_ = static_cast<size_t>(header.sections[kTexts].size);
    slots_ = section<uint32_t>(bytes, header, kSlots);
    text_offsets_ = section<uint32_t>(bytes, header, kTextOffsets);
    flags_ = section<uint8_t>(bytes, header, kFlags);
    synset_offsets_ = section<uint32_t>(bytes, header, kSynsetOffsets);
    synsets_ = section<uint32_t>(bytes, header, kSynsets);
    irregular_forms_ = section<uint32_t>(bytes, header, kIrregularForms);
    bases_ = section<uint32_t>(bytes, header, kBases);
    node_words_ = section<uint16_t>(bytes, header, kNodeWords);
    parent_bits_ = section<uint64_t>(bytes, header, kParentBits);
    parent_ranks_ = section<uint32_t>(bytes, header, kParentRanks);
    group_bits_ = section<uint64_t>(bytes, header, kGroupBits);
    group_samples_ = section<uint32_t>(bytes, header, kGroupSamples);
    source_bits_ = section<uint64_t>(bytes, header, kSourceBits);
    target_bits_ = section<uint64_t>(bytes, header, kTargetBits);
    list_offsets_ = section<uint32_t>(bytes, header, kListOffsets);
    lists_ = reinterpret_cast<const uint8_t*>(bytes + header.sections[kLists].offset);
    lists_size_ = static_cast<size_t>(header.sections[kLists].size);
    steps_ = std::make_shared<Steps>(size_t{1} << kStepBits);
    root_end_ = header.root_end;
    longest_phrase_ = header.longest_phrase;

    const size_t words = flags_.size(), nodes = node_words_.size();
    const size_t blocks = (nodes + 63) / 64;
    expect(words < kNone && nodes < kNone && root_end_ <= nodes);
    expect(slots_.size() > words && (slots_.size() & (slots_.size() - 1)) == 0);
    expect(text_offsets_.size() == words + 1 && synset_offsets_.size() == words + 1);
    expect(irregular_forms_.size() == bases_.size());
    expect(parent_bits_.size() == blocks && parent_ranks_.size() == blocks);
    expect(group_bits_.size() == blocks && list_offsets_.size() == blocks);
    expect(source_bits_.size() == blocks && target_bits_.size() == blocks);
}

bool MeteorIndex::spells(uint32_t word, string_view text) const {
    const size_t begin = text_offsets_[word], end = text_offsets_[word + size_t{1}];
    return end <= texts_size_ && begin <= end && string_view(texts_ + begin, end - begin) == text;
}

uint32_t MeteorIndex::find(string_view word) const {
    if (slots_.size() == 0) return kNone;
    const size_t mask = slots_.size() - 1;
    size_t slot = slot_of(word);
    for (size_t tries = 0; tries <= mask; ++tries, slot = (slot + 1) & mask) {
        const uint32_t entry = slots_[slot];
        if (entry == 0) return kNone;
        if (entry <= flags_.size() && spells(entry - 1, word)) return entry - 1;
    }
    return kNone;
}

void MeteorIndex::expect_facts(string_view word) const {
    const uint32_t entry = slots_[slot_of(word)];
    if (entry == 0) return;
    text_offsets_.expect(entry - 1);
    flags_.expect(entry - 1);
    synset_offsets_.expect(entry - 1);
}

BlobSpan MeteorIndex::synsets(uint32_t word) const {
    return list_at(synset_offsets_, synsets_, word);
}

BlobSpan MeteorIndex::bases(uint32_t word) const {
    const auto first_at_least = [&](uint64_t form) {
        size_t begin = 0, end = irregular_forms_.size();
        while (begin < end) {
            const size_t middle = begin + (end - begin) / 2;
            (irregular_forms_[middle] < form ? begin : end) =
                irregular_forms_[middle] < form ? middle + 1 : middle;
        }
        return begin;
    };
    const size_t begin = first_at_least(word);
    return {&bases_, begin, std::max(begin, first_at_least(uint64_t{word} + 1))};
}

MeteorIndex::FirstNode MeteorIndex::first_node(uint32_t word) const {
    const uint32_t node = child_in({0, root_end_}, word);
    if (node == kNone) return {};
    return {node, children(node), is_listed(node)};
}

// Without branches: where in a list the word stands is a matter of chance.
uint32_t MeteorIndex::child_in(Range nodes, uint32_t word) const {
    const uint32_t end = std::min(nodes.end, node_count());
    if (nodes.begin >= end) return kNone;
    uint32_t node = nodes.begin;
    for (uint32_t size = end - node; size > 1;) {
        const uint32_t half = size / 2;
        node += node_words_[node + half] <= word ? half : 0;
        size -= half;
    }
    return node_words_[node] == word ? node : kNone;
}

MeteorIndex::Range MeteorIndex::children(uint32_t node) const {
    if (!bit(parent_bits_, node)) return {0, 0};
    const uint64_t before = parent_bits_[node / 64] & ((uint64_t{1} << (node % 64)) - 1);
    const uint32_t group = parent_ranks_[node / 64] + count_bits(before);
    // From the sample on, pass over the groups before this one.
    const uint32_t sample = group_samples_[group / kGroupsPerSample];
    uint32_t left = group % kGroupsPerSample;
    size_t block = sample / 64;
    uint64_t bits = group_bits_[block] >> (sample % 64) << (sample % 64);
    for (uint32_t here; left >= (here = count_bits(bits)) && block < group_bits_.size();) {
        left -= here;
        bits = group_bits_[++block];
    }
    for (; left > 0; --left) bits &= bits - 1;
    const auto next = [&] {
        while (bits == 0 && block < group_bits_.size()) bits = group_bits_[++block];
        const size_t place = bits == 0 ? node_count() : 64 * block + lowest_bit(bits);
        bits &= bits - 1;
        return static_cast<uint32_t>(place);
    };
    const uint32_t begin = next();
    return {begin, next()};
}

// A list holds the distances from each target to the next, seven bits a byte, and ends with a
// zero. No other byte is zero, so lists are passed over quickly.
void MeteorIndex::targets(uint32_t node, std::vector<uint32_t>& found) const {
    found.clear();
    if (!is_source(node)) return;
    const uint8_t* place = lists_ + std::min<size_t>(list_offsets_[node / 64], lists_size_);
    const uint8_t* const end = lists_ + lists_size_;
    const uint64_t before = source_bits_[node / 64] & ((uint64_t{1} << (node % 64)) - 1);
    for (uint32_t lists = count_bits(before); lists > 0 && place < end; --lists) {
        const void* zero = std::memchr(place, 0, static_cast<size_t>(end - place));
        place = zero == nullptr ? end : static_cast<const uint8_t*>(zero) + 1;
    }
    uint32_t target = 0, distance = 0;
    for (unsigned shift = 0; place < end && *place != 0; ++place) {
        distance |= uint32_t{*place & 0x7Fu} << shift;
        if (*place >= 0x80) {
            shift = std::min(shift + 7, 28u);
            continue;
        }
        target += distance;
        found.push_back(target - 1);
        distance = shift = 0;
    }
}

}  // namespace reelscore
