#include "meteor_index_builder.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "id_table.hpp"
#include "meteor_index.hpp"
#include "meteor_index_layout.hpp"

namespace reelscore {
using namespace language;
using std::size_t;
using std::string_view;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

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
        header_.version = kMeteorIndexFormat;
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

struct MeteorIndexBuilder::State {
    static constexpr uint32_t kNone = MeteorIndex::kNone;

    struct Node {
        uint32_t parent, word;
    };

    // The nodes of the phrase that came last.
    struct Path {
        Words words, nodes;
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
    Path sources, targets;
    Words source;
    std::string unfinished_line;
    unsigned line_of_entry = 0;

    string_view word(uint32_t id) const {
        return string_view(texts).substr(text_offsets[id],
                                         text_offsets[id + size_t{1}] - text_offsets[id]);
    }

    uint32_t word_id(string_view text) {
        const auto equal = [&](uint32_t id) { return word(id) == text; };
        return word_table.find_or_add(hash_bytes(text), equal, [&] {
            texts.append(text);
            if (texts.size() >= kNone) throw std::invalid_argument("METEOR index: too much text");
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

    // Phrases mostly begin like the one before them, whose nodes need not be looked up.
    uint32_t phrase(const Words& words, Path& path) {
        if (words.empty()) throw std::invalid_argument("paraphrases: an empty phrase");
        const size_t both = std::min(words.size(), path.words.size());
        const auto end = path.words.begin() + static_cast<std::ptrdiff_t>(both);
        const auto differing = std::mismatch(path.words.begin(), end, words.begin()).first;
        path.nodes.resize(static_cast<size_t>(differing - path.words.begin()));
        while (path.nodes.size() < words.size()) {
            const uint32_t parent = path.nodes.empty() ? kNone : path.nodes.back();
            path.nodes.push_back(child(parent, words[path.nodes.size()]));
        }
        path.words = words;
        return path.nodes.back();
    }

    void add_entry(const Words& from, const Words& to) {
        const uint32_t key = phrase(from, sources);
        entries.push_back({key, phrase(to, targets)});
    }

    Words words_of(string_view line) {
        Words words;
        for (string_view word; next_field(line, word);) words.push_back(word_id(word));
        return words;
    }

    void paraphrase_line(string_view line) {
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        if (line_of_entry == 1) source = words_of(line);
        if (line_of_entry == 2) add_entry(source, words_of(line));
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
            std::vector<std::pair<uint64_t, uint32_t>> keyed;
            keyed.reserve(level.size());
            for (uint32_t k : level) keyed.emplace_back(key(k), k);
            level = {};
            std::sort(keyed.begin(), keyed.end());
            for (const auto& [_, k] : keyed) {
                numbering.new_ids[k] = static_cast<uint32_t>(numbering.old_ids.size());
                numbering.old_ids.push_back(k);
            }
        }
        return numbering;
    }

    // Gives the words new numbers in the order of their bytes, those of phrases first.
    void number_words() {
        std::vector<bool> in_phrases(flags.size());
        for (const Node& node : nodes) in_phrases[node.word] = true;
        std::vector<uint32_t> old_ids(flags.size()), new_ids(flags.size());
        for (uint32_t id = 0; id < old_ids.size(); ++id) old_ids[id] = id;
        std::sort(old_ids.begin(), old_ids.end(), [&](uint32_t a, uint32_t b) {
            return in_phrases[a] != in_phrases[b] ? in_phrases[a] : word(a) < word(b);
        });
        std::string new_texts;
        std::vector<uint32_t> new_offsets{0};
        std::vector<uint8_t> new_flags;
        for (uint32_t id : old_ids) {
            new_ids[id] = static_cast<uint32_t>(new_flags.size());
            new_texts.append(word(id));
            new_offsets.push_back(static_cast<uint32_t>(new_texts.size()));
            new_flags.push_back(flags[id]);
        }
        texts = std::move(new_texts);
        text_offsets = std::move(new_offsets);
        flags = std::move(new_flags);
        for (Node& node : nodes) node.word = new_ids[node.word];
        for (Pair& pair : synsets) pair.key = new_ids[pair.key];
        for (Pair& pair : bases) pair = {new_ids[pair.key], new_ids[pair.value]};
        const auto words_of_phrases = std::count(in_phrases.begin(), in_phrases.end(), true);
        if (words_of_phrases > std::numeric_limits<uint16_t>::max()) {
            throw std::invalid_argument("paraphrases: more than 65,535 different words");
        }
    }

    void write_words(BlobWriter& out) {
        size_t slot_count = 1;
        while (slot_count < flags.size() + flags.size() / 3 + 1) slot_count *= 2;
        std::vector<uint32_t> slots(slot_count);
        for (uint32_t id = 0; id < flags.size(); ++id) {
            size_t slot = hash_bytes(word(id)) & (slot_count - 1);
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
        std::stable_sort(bases.begin(), bases.end(),
                         [](const Pair& a, const Pair& b) { return a.key < b.key; });
        std::vector<uint32_t> forms, base_ids;
        for (const Pair& pair : bases) {
            forms.push_back(pair.key);
            base_ids.push_back(pair.value);
        }
        out.add(kIrregularForms, forms);
        out.add(kBases, base_ids);
    }

    void write_trie(BlobWriter& out, const Numbering& numbering) const {
        const size_t blocks = (nodes.size() + 63) / 64;
        std::vector<uint16_t> node_words(nodes.size());
        std::vector<uint64_t> parent_bits(blocks), group_bits(blocks);
        std::vector<uint32_t> parent_ranks(blocks), group_samples;
        uint32_t groups = 0, last_parent = kNone;
        for (uint32_t k = 0; k < nodes.size(); ++k) {
            const Node& node = nodes[numbering.old_ids[k]];
            node_words[k] = static_cast<uint16_t>(node.word);
            if (node.parent == last_parent) continue;
            last_parent = node.parent;
            set_bit(parent_bits, numbering.new_ids[node.parent]);
            set_bit(group_bits, k);
            if (groups++ % kGroupsPerSample == 0) group_samples.push_back(k);
        }
        for (size_t k = 1; k < blocks; ++k) {
            parent_ranks[k] = parent_ranks[k - 1] + count_bits(parent_bits[k - 1]);
        }
        out.header().root_end = numbering.root_end;
        out.header().longest_phrase = numbering.levels;
        out.add(kNodeWords, node_words);
        out.add(kParentBits, parent_bits);
        out.add(kParentRanks, parent_ranks);
        out.add(kGroupBits, group_bits);
        out.add(kGroupSamples, group_samples);
    }

    void write_entries(BlobWriter& out) {
        std::sort(entries.begin(), entries.end(), [](const Pair& a, const Pair& b) {
            return a.key != b.key ? a.key < b.key : a.value < b.value;
        });
        const size_t blocks = (nodes.size() + 63) / 64;
        std::vector<uint64_t> source_bits(blocks), target_bits(blocks);
        std::vector<uint32_t> list_offsets;
        std::vector<uint8_t> lists;
        for (size_t k = 0; k < entries.size();) {
            const uint32_t key = entries[k].key;
            list_offsets.resize(std::max<size_t>(list_offsets.size(), key / 64 + size_t{1}),
                                static_cast<uint32_t>(lists.size()));
            set_bit(source_bits, key);
            for (uint32_t before = 0; k < entries.size() && entries[k].key == key; ++k) {
                const uint32_t target = entries[k].value + 1;
                uint32_t distance = target - before;
                if (distance == 0) continue;  // an entry that stands twice in the table
                for (; distance >= 0x80; distance >>= 7) {
                    lists.push_back(static_cast<uint8_t>(distance | 0x80));
                }
                lists.push_back(static_cast<uint8_t>(distance));
                set_bit(target_bits, entries[k].value);
                before = target;
            }
            lists.push_back(0);
        }
        list_offsets.resize(blocks, static_cast<uint32_t>(lists.size()));
        out.add(kSourceBits, source_bits);
        out.add(kTargetBits, target_bits);
        out.add(kListOffsets, list_offsets);
        out.add(kLists, lists);
    }

    std::string finish() {
        if (!unfinished_line.empty()) paraphrase_line(unfinished_line);
        if (line_of_entry != 0) throw std::invalid_argument("paraphrases: the last entry is cut");
        word_table = IdTable();
        node_table = IdTable();
        number_words();
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

MeteorIndexBuilder::MeteorIndexBuilder() : state_(std::make_unique<State>()) {}
MeteorIndexBuilder::~MeteorIndexBuilder() = default;

void MeteorIndexBuilder::add_function_words(string_view text) {
    for (string_view line, word; next_line(text, line);) {
        if (next_field(line, word)) {
            state_->flags[state_->word_id(word)] |= MeteorIndex::kFunctionWord;
        }
    }
}

void MeteorIndexBuilder::add_prefixes(string_view text) {
    for (string_view line, word, mark; next_line(text, line);) {
        if (!next_field(line, word) || word[0] == '#') continue;
        const bool numeric = next_field(line, mark) && mark == "#NUMERIC_ONLY#";
        state_->flags[state_->word_id(word)] |=
            numeric ? MeteorIndex::kNumericPrefix : MeteorIndex::kPrefix;
    }
}

void MeteorIndexBuilder::add_exceptions(string_view text) {
    for (string_view base_line, line, base, form; next_line(text, base_line);) {
        if (!next_field(base_line, base) || !next_line(text, line)) {
            throw std::invalid_argument("exceptions: expected pairs of lines");
        }
        const uint32_t base_id = state_->word_id(base);
        while (next_field(line, form)) state_->bases.push_back({state_->word_id(form), base_id});
    }
}

void MeteorIndexBuilder::add_synsets(string_view text) {
    for (string_view word_line, line, word, number; next_line(text, word_line);) {
        if (!next_field(word_line, word) || !next_line(text, line)) {
            throw std::invalid_argument("synsets: expected pairs of lines");
        }
        const uint32_t id = state_->word_id(word);
        while (next_field(line, number)) state_->synsets.push_back({id, parse_number(number)});
    }
}

void MeteorIndexBuilder::add_paraphrases(string_view chunk) {
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

uint32_t MeteorIndexBuilder::word_id(string_view word) {
    return state_->word_id(word);
}

void MeteorIndexBuilder::add_paraphrase(const Words& phrase, const Words& paraphrase) {
    state_->add_entry(phrase, paraphrase);
}

std::string MeteorIndexBuilder::finish() {
    const std::unique_ptr<State> finished = std::exchange(state_, std::make_unique<State>());
    return finished->finish();
}

}  // namespace reelscore
