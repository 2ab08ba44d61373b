#include "language_index.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bits.hpp"
#include "id_table.hpp"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The language index is little-endian; this machine is not."
#endif

namespace reelscore {
namespace {

using std::size_t;
using std::string_view;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr char kMagic[8] = {'r', 'e', 'e', 'l', 'l', 'a', 'n', 'g'};

// The order in which the arrays lie in the blob.
enum Section : size_t {
    kTexts,
    kSlots,
    kTextOffsets,
    kFlags,
    kSynsetOffsets,
    kSynsets,
    kBaseOffsets,
    kBases,
    kNodeWords,
    kNodeChildren,
    kSourceBits,
    kTargetBits,
    kSourceRanks,
    kTargetOffsets,
    kTargets,
    kSectionCount
};

struct Extent {
    uint64_t offset, size;  // in bytes
};

struct Header {
    char magic[8];
    uint64_t blob_size;
    uint64_t checksum;  // of everything after this field
    uint32_t version;
    uint32_t root_end;
    uint32_t longest_phrase;
    uint32_t reserved;
    Extent sections[kSectionCount];
};
static_assert(sizeof(Header) == 40 + 16 * kSectionCount, "the header has no padding");
constexpr size_t kChecksumFrom = offsetof(Header, version);

constexpr uint64_t kPrime1 = 0x9E3779B97F4A7C15, kPrime2 = 0xC2B2AE3D27D4EB4F;

uint64_t rotate(uint64_t value, int bits) {
    return value << bits | value >> (64 - bits);
}

uint64_t load64(const void* bytes) {
    uint64_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

uint64_t mix(uint64_t value) {
    value ^= value >> 32;
    value *= kPrime1;
    value ^= value >> 29;
    value *= kPrime2;
    return value ^ value >> 32;
}

// Four independent lanes keep the multiplier busy; memory is the limit then.
uint64_t checksum(const std::byte* bytes, size_t size) {
    uint64_t lanes[4] = {kPrime1, kPrime2, ~kPrime1, ~kPrime2};
    size_t k = 0;
    for (; k + 32 <= size; k += 32) {
        for (size_t lane = 0; lane < 4; ++lane) {
            lanes[lane] =
                rotate(lanes[lane] ^ load64(bytes + k + 8 * lane) * kPrime1, 31) * kPrime2;
        }
    }
    uint64_t sum = size;
    for (uint64_t lane : lanes) sum = mix(sum ^ lane);
    for (; k < size; ++k) sum = mix(sum ^ static_cast<uint64_t>(bytes[k]));
    return sum;
}

Header read_header(const std::byte* bytes, size_t size) {
    Header header;
    if (size < sizeof header) throw std::invalid_argument("language index: too short");
    std::memcpy(&header, bytes, sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
        throw std::invalid_argument("language index: not a language index");
    }
    if (header.version != kLanguageIndexFormat) {
        throw std::invalid_argument("language index: made by another version");
    }
    if (header.blob_size != size) throw std::invalid_argument("language index: wrong size");
    for (const Extent& extent : header.sections) {
        if (extent.offset > size || extent.size > size - extent.offset) {
            throw std::invalid_argument("language index: a section lies outside");
        }
    }
    return header;
}

template <typename Value>
BlobArray<Value> section(const std::byte* bytes, const Header& header, Section which) {
    const Extent& extent = header.sections[which];
    if (extent.size % sizeof(Value) != 0) {
        throw std::invalid_argument("language index: a section has a broken size");
    }
    return {bytes + extent.offset, static_cast<size_t>(extent.size / sizeof(Value))};
}

void expect(bool consistent) {
    if (!consistent) throw std::invalid_argument("language index: sizes disagree");
}

// values[offsets[k] .. offsets[k + 1]), whatever the offsets are.
BlobSpan list_at(const BlobArray<uint32_t>& offsets, const BlobArray<uint32_t>& values, size_t k) {
    const size_t end = std::min<size_t>(offsets[k + 1], values.size());
    return {&values, std::min<size_t>(offsets[k], end), end};
}

}  // namespace

uint64_t hash_bytes(string_view text) {
    uint64_t hash = text.size() * kPrime2;
    size_t k = 0;
    for (; k + 8 <= text.size(); k += 8) {
        hash = rotate((hash ^ load64(text.data() + k)) * kPrime1, 27);
    }
    if (k < text.size()) {
        uint64_t rest = 0;
        std::memcpy(&rest, text.data() + k, text.size() - k);
        hash = rotate((hash ^ rest) * kPrime1, 27);
    }
    return mix(hash);
}

bool intact(const std::byte* bytes, size_t size) {
    try {
        const Header header = read_header(bytes, size);
        return header.checksum == checksum(bytes + kChecksumFrom, size - kChecksumFrom);
    } catch (const std::invalid_argument&) {
        return false;
    }
}

LanguageIndex::LanguageIndex(const std::byte* bytes, size_t size) {
    const Header header = read_header(bytes, size);
    texts_ = reinterpret_cast<const char*>(bytes + header.sections[kTexts].offset);
    texts_size_ = static_cast<size_t>(header.sections[kTexts].size);
    slots_ = section<uint32_t>(bytes, header, kSlots);
    text_offsets_ = section<uint32_t>(bytes, header, kTextOffsets);
    flags_ = section<uint8_t>(bytes, header, kFlags);
    synset_offsets_ = section<uint32_t>(bytes, header, kSynsetOffsets);
    synsets_ = section<uint32_t>(bytes, header, kSynsets);
    base_offsets_ = section<uint32_t>(bytes, header, kBaseOffsets);
    bases_ = section<uint32_t>(bytes, header, kBases);
    node_words_ = section<uint32_t>(bytes, header, kNodeWords);
    node_children_ = section<uint32_t>(bytes, header, kNodeChildren);
    source_bits_ = section<uint64_t>(bytes, header, kSourceBits);
    target_bits_ = section<uint64_t>(bytes, header, kTargetBits);
    source_ranks_ = section<uint32_t>(bytes, header, kSourceRanks);
    target_offsets_ = section<uint32_t>(bytes, header, kTargetOffsets);
    targets_ = section<uint32_t>(bytes, header, kTargets);
    root_end_ = header.root_end;
    longest_phrase_ = header.longest_phrase;

    const size_t words = flags_.size(), nodes = node_words_.size();
    const size_t blocks = (nodes + 63) / 64;
    expect(words < kNone && nodes < kNone && root_end_ <= nodes);
    expect(slots_.size() > words && (slots_.size() & (slots_.size() - 1)) == 0);
    expect(text_offsets_.size() == words + 1 && synset_offsets_.size() == words + 1);
    expect(base_offsets_.size() == words + 1 && node_children_.size() == nodes + 1);
    expect(source_bits_.size() == blocks && target_bits_.size() == blocks);
    expect(source_ranks_.size() == blocks && target_offsets_.size() >= 1);
}

bool LanguageIndex::spells(uint32_t word, string_view text) const {
    const size_t begin = text_offsets_[word], end = text_offsets_[word + size_t{1}];
    return end <= texts_size_ && begin <= end && string_view(texts_ + begin, end - begin) == text;
}

uint32_t LanguageIndex::find(string_view word) const {
    if (slots_.size() == 0) return kNone;
    const size_t mask = slots_.size() - 1;
    size_t slot = hash_bytes(word) & mask;
    for (size_t tries = 0; tries <= mask; ++tries, slot = (slot + 1) & mask) {
        const uint32_t entry = slots_[slot];
        if (entry == 0) return kNone;
        if (entry <= flags_.size() && spells(entry - 1, word)) return entry - 1;
    }
    return kNone;
}

BlobSpan LanguageIndex::synsets(uint32_t word) const {
    return list_at(synset_offsets_, synsets_, word);
}

BlobSpan LanguageIndex::bases(uint32_t word) const {
    return list_at(base_offsets_, bases_, word);
}

uint32_t LanguageIndex::child_in(uint32_t begin, uint32_t end, uint32_t word) const {
    const uint32_t limit = end;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (node_words_[middle] < word) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin < limit && begin < node_count() && node_words_[begin] == word ? begin : kNone;
}

uint32_t LanguageIndex::next_node(uint32_t node, uint32_t word) const {
    return child_in(node_children_[node], node_children_[node + size_t{1}], word);
}

BlobSpan LanguageIndex::targets(uint32_t node) const {
    if (!is_source(node)) return {};
    const uint64_t before = source_bits_[node / 64] & ((uint64_t{1} << (node % 64)) - 1);
    const size_t rank = source_ranks_[node / 64] + count_bits(before);
    return list_at(target_offsets_, targets_, rank);
}

namespace {

// Takes the next line off the text, without its end.
bool next_line(string_view& text, string_view& line) {
    if (text.empty()) return false;
    const size_t end = std::min(text.find('\n'), text.size());
    line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return true;
}

// Takes the next blank-separated field off the line.
bool next_field(string_view& line, string_view& field) {
    constexpr string_view kBlanks = " \t";
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    field = line.substr(0, end);
    line.remove_prefix(end);
    return !field.empty();
}

uint32_t parse_number(string_view digits) {
    uint64_t value = 0;
    for (char digit : digits) {
        if (digit < '0' || digit > '9') throw std::invalid_argument("synsets: not a number");
        value = value * 10 + static_cast<uint64_t>(digit - '0');
        if (value > std::numeric_limits<uint32_t>::max()) {
            throw std::invalid_argument("synsets: number too large");
        }
    }
    return static_cast<uint32_t>(value);
}

struct Pair {
    uint32_t key, value;
};

// Lists of values by key, in the order in which the pairs came.
struct Lists {
    std::vector<uint32_t> offsets, values;

    Lists(const std::vector<Pair>& pairs, size_t keys) : offsets(keys + 1), values(pairs.size()) {
        for (const Pair& pair : pairs) ++offsets[pair.key + size_t{1}];
        for (size_t k = 0; k < keys; ++k) offsets[k + 1] += offsets[k];
        std::vector<uint32_t> next(offsets.begin(), offsets.end() - 1);
        for (const Pair& pair : pairs) values[next[pair.key]++] = pair.value;
    }
};

// Writes sections behind a header, each at a multiple of 64 bytes.
class BlobWriter {
  public:
    BlobWriter() : blob_(sizeof(Header), '\0') {
        std::memcpy(header_.magic, kMagic, sizeof kMagic);
        header_.version = kLanguageIndexFormat;
    }

    Header& header() { return header_; }

    void add(Section which, const void* data, size_t size) {
        blob_.resize((blob_.size() + 63) / 64 * 64);
        header_.sections[which] = {blob_.size(), size};
        if (size > 0) blob_.append(static_cast<const char*>(data), size);
    }
    template <typename Value>
    void add(Section which, const std::vector<Value>& values) {
        add(which, values.data(), values.size() * sizeof(Value));
    }

    std::string finish() {
        header_.blob_size = blob_.size();
        std::memcpy(blob_.data(), &header_, sizeof header_);
        const auto* bytes = reinterpret_cast<const std::byte*>(blob_.data());
        header_.checksum = checksum(bytes + kChecksumFrom, blob_.size() - kChecksumFrom);
        std::memcpy(blob_.data(), &header_, sizeof header_);
        return std::move(blob_);
    }

  private:
    Header header_{};
    std::string blob_;
};

void set_bit(std::vector<uint64_t>& bits, uint32_t k) {
    bits[k / 64] |= uint64_t{1} << (k % 64);
}

}  // namespace

struct LanguageIndexBuilder::State {
    static constexpr uint32_t kNone = LanguageIndex::kNone;

    struct Node {
        uint32_t parent, word;
    };

    // Words
    std::string texts;
    std::vector<uint32_t> text_offsets{0};
    std::vector<uint8_t> flags;
    IdTable word_table;
    std::vector<Pair> synsets, bases;

    // Phrases, numbered as they come, and entries source -> target
    std::vector<Node> nodes;
    IdTable node_table;
    std::vector<Pair> entries;
    uint32_t source = kNone;
    std::string unfinished_line;
    unsigned line_of_entry = 0;

    uint32_t word_id(string_view word) {
        const auto equal = [&](uint32_t id) {
            return string_view(texts).substr(
                       text_offsets[id], text_offsets[id + size_t{1}] - text_offsets[id]) == word;
        };
        return word_table.find_or_add(hash_bytes(word), equal, [&] {
            texts.append(word);
            if (texts.size() >= kNone) throw std::invalid_argument("language index: too much text");
            text_offsets.push_back(static_cast<uint32_t>(texts.size()));
            flags.push_back(0);
            return static_cast<uint32_t>(flags.size() - 1);
        });
    }

    uint32_t child(uint32_t parent, uint32_t word) {
        const auto equal = [&](uint32_t id) {
            return nodes[id].parent == parent && nodes[id].word == word;
        };
        return node_table.find_or_add(mix(uint64_t{parent} << 32 | word), equal, [&] {
            nodes.push_back({parent, word});
            return static_cast<uint32_t>(nodes.size() - 1);
        });
    }

    uint32_t phrase(string_view line) {
        uint32_t node = kNone;
        for (string_view word; next_field(line, word);) node = child(node, word_id(word));
        if (node == kNone) throw std::invalid_argument("paraphrases: an empty phrase");
        return node;
    }

    void paraphrase_line(string_view line) {
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        if (line_of_entry == 1) source = phrase(line);
        if (line_of_entry == 2) entries.push_back({source, phrase(line)});
        line_of_entry = (line_of_entry + 1) % 3;  // line 0 is a number that METEOR ignores
    }

    // New numbers of the nodes, level by level, so that the children of a node lie together in
    // the order of their words. Parents always have smaller old numbers than their children.
    struct Numbering {
        std::vector<uint32_t> new_ids, old_ids;
        uint32_t root_end = 0, levels = 0;
    };

    Numbering number_nodes() const {
        std::vector<std::vector<uint32_t>> levels;
        {
            std::vector<uint32_t> depths(nodes.size());
            for (uint32_t k = 0; k < nodes.size(); ++k) {
                depths[k] = nodes[k].parent == kNone ? 0 : depths[nodes[k].parent] + 1;
                if (depths[k] == levels.size()) levels.emplace_back();
                levels[depths[k]].push_back(k);
            }
        }
        Numbering numbering;
        numbering.new_ids.resize(nodes.size());
        numbering.old_ids.reserve(nodes.size());
        numbering.levels = static_cast<uint32_t>(levels.size());
        numbering.root_end = levels.empty() ? 0 : static_cast<uint32_t>(levels[0].size());
        for (std::vector<uint32_t>& level : levels) {
            const auto key = [&](uint32_t k) {
                const uint32_t parent = nodes[k].parent;
                const uint64_t high = parent == kNone ? 0 : numbering.new_ids[parent];
                return high << 32 | nodes[k].word;
            };
            std::sort(level.begin(), level.end(),
                      [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
            for (uint32_t k : level) {
                numbering.new_ids[k] = static_cast<uint32_t>(numbering.old_ids.size());
                numbering.old_ids.push_back(k);
            }
            level = {};
        }
        return numbering;
    }

    void write_words(BlobWriter& out) const {
        size_t slot_count = 1;
        while (slot_count < 2 * flags.size() + 1) slot_count *= 2;
        std::vector<uint32_t> slots(slot_count);
        for (uint32_t id = 0; id < flags.size(); ++id) {
            const string_view word = string_view(texts).substr(
                text_offsets[id], text_offsets[id + size_t{1}] - text_offsets[id]);
            size_t slot = hash_bytes(word) & (slot_count - 1);
            while (slots[slot] != 0) slot = (slot + 1) & (slot_count - 1);
            slots[slot] = id + 1;
        }
        out.add(kTexts, texts.data(), texts.size());
        out.add(kSlots, slots);
        out.add(kTextOffsets, text_offsets);
        out.add(kFlags, flags);
        const Lists synset_lists(synsets, flags.size());
        out.add(kSynsetOffsets, synset_lists.offsets);
        out.add(kSynsets, synset_lists.values);
        const Lists base_lists(bases, flags.size());
        out.add(kBaseOffsets, base_lists.offsets);
        out.add(kBases, base_lists.values);
    }

    void write_trie(BlobWriter& out, const Numbering& numbering) const {
        std::vector<uint32_t> node_words(nodes.size()), children(nodes.size() + 1);
        for (uint32_t k = 0; k < nodes.size(); ++k) {
            const Node& node = nodes[numbering.old_ids[k]];
            node_words[k] = node.word;
            if (node.parent != kNone) ++children[numbering.new_ids[node.parent] + size_t{1}];
        }
        children[0] = numbering.root_end;
        for (size_t k = 0; k < nodes.size(); ++k) children[k + 1] += children[k];
        out.header().root_end = numbering.root_end;
        out.header().longest_phrase = numbering.levels;
        out.add(kNodeWords, node_words);
        out.add(kNodeChildren, children);
    }

    void write_entries(BlobWriter& out) {
        const size_t blocks = (nodes.size() + 63) / 64;
        std::vector<uint64_t> source_bits(blocks), target_bits(blocks);
        std::vector<uint32_t> source_ranks(blocks);
        for (const Pair& entry : entries) {
            set_bit(source_bits, entry.key);
            set_bit(target_bits, entry.value);
        }
        uint32_t sources = 0;
        for (size_t k = 0; k < blocks; ++k) {
            source_ranks[k] = sources;
            sources += count_bits(source_bits[k]);
        }
        for (Pair& entry : entries) {
            const uint64_t before =
                source_bits[entry.key / 64] & ((uint64_t{1} << (entry.key % 64)) - 1);
            entry.key = source_ranks[entry.key / 64] + count_bits(before);
        }
        const Lists lists(entries, sources);
        out.add(kSourceBits, source_bits);
        out.add(kTargetBits, target_bits);
        out.add(kSourceRanks, source_ranks);
        out.add(kTargetOffsets, lists.offsets);
        out.add(kTargets, lists.values);
    }

    std::string finish() {
        if (!unfinished_line.empty()) paraphrase_line(unfinished_line);
        if (line_of_entry != 0) throw std::invalid_argument("paraphrases: the last entry is cut");
        word_table = IdTable();
        node_table = IdTable();
        BlobWriter out;
        write_words(out);
        {
            const Numbering numbering = number_nodes();
            write_trie(out, numbering);
            for (Pair& entry : entries) {
                entry = {numbering.new_ids[entry.key], numbering.new_ids[entry.value]};
            }
        }
        write_entries(out);
        return out.finish();
    }
};

LanguageIndexBuilder::LanguageIndexBuilder() : state_(std::make_unique<State>()) {}
LanguageIndexBuilder::~LanguageIndexBuilder() = default;

void LanguageIndexBuilder::add_function_words(string_view text) {
    for (string_view line, word; next_line(text, line);) {
        if (next_field(line, word)) {
            state_->flags[state_->word_id(word)] |= LanguageIndex::kFunctionWord;
        }
    }
}

void LanguageIndexBuilder::add_prefixes(string_view text) {
    for (string_view line, word, mark; next_line(text, line);) {
        if (!next_field(line, word) || word[0] == '#') continue;
        const bool numeric = next_field(line, mark) && mark == "#NUMERIC_ONLY#";
        state_->flags[state_->word_id(word)] |=
            numeric ? LanguageIndex::kNumericPrefix : LanguageIndex::kPrefix;
    }
}

void LanguageIndexBuilder::add_exceptions(string_view text) {
    for (string_view base_line, line, base, form; next_line(text, base_line);) {
        if (!next_field(base_line, base) || !next_line(text, line)) {
            throw std::invalid_argument("exceptions: expected pairs of lines");
        }
        const uint32_t base_id = state_->word_id(base);
        while (next_field(line, form)) state_->bases.push_back({state_->word_id(form), base_id});
    }
}

void LanguageIndexBuilder::add_synsets(string_view text) {
    for (string_view word_line, line, word, number; next_line(text, word_line);) {
        if (!next_field(word_line, word) || !next_line(text, line)) {
            throw std::invalid_argument("synsets: expected pairs of lines");
        }
        const uint32_t id = state_->word_id(word);
        while (next_field(line, number)) state_->synsets.push_back({id, parse_number(number)});
    }
}

void LanguageIndexBuilder::add_paraphrases(string_view chunk) {
    for (size_t end; (end = chunk.find('\n')) != string_view::npos;) {
        if (state_->unfinished_line.empty()) {
            state_->paraphrase_line(chunk.substr(0, end));
        } else {
            state_->unfinished_line.append(chunk.substr(0, end));
            state_->paraphrase_line(state_->unfinished_line);
            state_->unfinished_line.clear();
        }
        chunk.remove_prefix(end + 1);
    }
    state_->unfinished_line.append(chunk);
}

std::string LanguageIndexBuilder::finish() {
    const std::unique_ptr<State> finished = std::exchange(state_, std::make_unique<State>());
    return finished->finish();
}

}  // namespace reelscore
