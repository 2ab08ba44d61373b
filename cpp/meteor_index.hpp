// What METEOR knows of a language, compiled into one flat, position-independent blob that Python
// maps into memory: function words, abbreviations, irregular forms, synonym sets and paraphrases.
// Little-endian machines only. A damaged blob may give wrong answers (intact() tells), but no
// content of it can lead to a read outside it or to a loop without end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bits.hpp"
#include "hashing.hpp"

namespace reelscore {

// Changes with the layout of the blob, and with how its checksum is made.
constexpr std::uint32_t kMeteorIndexFormat = 3;

// Whether the blob is complete and unchanged since it was built (reads all of it).
bool intact(const std::byte* bytes, std::size_t size);

// An array inside the blob. Reading past its end gives zeros.
template <typename Value>
class BlobArray {
  public:
    BlobArray() = default;
    BlobArray(const std::byte* bytes, std::size_t size) : bytes_(bytes), size_(size) {}

    std::size_t size() const { return size_; }
    Value operator[](std::size_t k) const {
        Value value{};
        if (k < size_) std::memcpy(&value, bytes_ + k * sizeof(Value), sizeof(Value));
        return value;
    }
    // Makes reading a value quicker, a little later.
    void expect(std::size_t k) const {
        if (k < size_) prefetch(bytes_ + k * sizeof(Value));
    }

  private:
    const std::byte* bytes_ = nullptr;
    std::size_t size_ = 0;
};

// A piece of a BlobArray: values [begin, end).
struct BlobSpan {
    const BlobArray<std::uint32_t>* values = nullptr;
    std::size_t begin = 0, end = 0;

    std::size_t size() const { return end - begin; }
    bool empty() const { return begin == end; }
    std::uint32_t operator[](std::size_t k) const { return (*values)[begin + k]; }
};

class MeteorIndex {
  public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    MeteorIndex() = default;
    // The bytes must outlive the view. Throws std::invalid_argument unless magic, format version
    // and all sizes fit together; does not read the content.
    MeteorIndex(const std::byte* bytes, std::size_t size);

    // Words. An id is below word_count(); find gives kNone for an unknown word. The words of
    // phrases have the first numbers, in the order of their bytes.
    std::uint32_t word_count() const { return static_cast<std::uint32_t>(flags_.size()); }
    std::uint32_t find(std::string_view word) const;
    // Make find() of a word quicker, a little later, and what is then asked of it: two steps, since
    // the second needs what the first asks for.
    void expect_word(std::string_view word) const { slots_.expect(slot_of(word)); }
    void expect_facts(std::string_view word) const;
    bool is_function_word(std::uint32_t word) const { return flags_[word] & kFunctionWord; }
    bool is_prefix(std::uint32_t word) const { return flags_[word] & kPrefix; }
    bool is_numeric_prefix(std::uint32_t word) const { return flags_[word] & kNumericPrefix; }
    // Synset numbers of the word as listed, and the base forms (word ids) of an irregular form.
    BlobSpan synsets(std::uint32_t word) const;
    BlobSpan bases(std::uint32_t word) const;

    // Paraphrases. Phrases are nodes of a trie over word ids, numbered level by level. A node is a
    // source when the table has entries for the phrase, a target when some entry leads to it, and
    // possibly neither.
    std::uint32_t node_count() const { return static_cast<std::uint32_t>(node_words_.size()); }
    std::uint32_t longest_phrase() const { return longest_phrase_; }
    struct Range {
        std::uint32_t begin, end;
    };
    // A phrase of one word, kNone if there is none; its children, and whether it is in the table.
    struct FirstNode {
        std::uint32_t node = kNone;
        Range children{0, 0};
        bool is_listed = false;
    };
    FirstNode first_node(std::uint32_t word) const;
    // The phrase that is one word longer. Such a step costs several cache misses, and the same
    // ones recur in all captions (in + a, of + the), so the latest are remembered: node, word and
    // result in one number, which threads may read and write at any time.
    std::uint32_t next_node(std::uint32_t node, std::uint32_t word) const {
        return next_node(node, word, [&] { return children(node); });
    }
    std::uint32_t next_node(const FirstNode& first, std::uint32_t word) const {
        return next_node(first.node, word, [&] { return first.children; });
    }
    // Makes such a step quicker, a little later.
    void expect_next(std::uint32_t node, std::uint32_t word) const {
        prefetch(&(*steps_)[step_of(key_of(node, word))]);
    }
    bool is_source(std::uint32_t node) const { return bit(source_bits_, node); }
    bool is_target(std::uint32_t node) const { return bit(target_bits_, node); }
    bool is_listed(std::uint32_t node) const { return is_source(node) || is_target(node); }
    // Replaces found by the paraphrases of a source, in the order of their numbers.
    void targets(std::uint32_t node, std::vector<std::uint32_t>& found) const;

    enum Flag : std::uint8_t { kFunctionWord = 1, kPrefix = 2, kNumericPrefix = 4 };

  private:
    static bool bit(const BlobArray<std::uint64_t>& bits, std::uint32_t k) {
        return bits[k / 64] >> (k % 64) & 1;
    }
    std::size_t slot_of(std::string_view word) const {
        return hash_bytes(word) & (slots_.size() - 1);
    }
    std::uint32_t child_in(Range nodes, std::uint32_t word) const;
    Range children(std::uint32_t node) const;
    bool spells(std::uint32_t word, std::string_view text) const;

    // Remembered steps from a node to another: 512 KiB, so that they lie close at hand.
    static constexpr unsigned kStepBits = 16;
    static constexpr std::uint64_t kNodeMask = 0xFFFFFF;
    static constexpr std::uint32_t kMostNodes = kNodeMask, kMostWords = 1 << 16;
    static std::uint64_t key_of(std::uint32_t node, std::uint32_t word) {
        return std::uint64_t{node} << 40 | std::uint64_t{word} << 24;
    }
    static std::size_t step_of(std::uint64_t key) { return key * kPrime1 >> (64 - kStepBits); }
    template <typename ChildrenOf>
    std::uint32_t next_node(std::uint32_t node, std::uint32_t word,
                            ChildrenOf&& children_of) const {
        if (node_count() >= kMostNodes || word >= kMostWords) return child_in(children_of(), word);
        const std::uint64_t key = key_of(node, word);
        std::atomic<std::uint64_t>& step = (*steps_)[step_of(key)];
        const std::uint64_t known = step.load(std::memory_order_relaxed);
        if ((known & ~kNodeMask) == key && known != 0) {
            return static_cast<std::uint32_t>(known & kNodeMask) - 1;  // 0 is kNone
        }
        const std::uint32_t next = child_in(children_of(), word);
        step.store(key | ((next + 1) & kNodeMask), std::memory_order_relaxed);
        return next;
    }
    using Steps = std::vector<std::atomic<std::uint64_t>>;

    std::shared_ptr<Steps> steps_;
    std::uint32_t root_end_ = 0;        // nodes [0, root_end_) are the phrases of one word
    std::uint32_t longest_phrase_ = 0;  // in words
    const char* texts_ = nullptr;
    std::size_t texts_size_ = 0;
    BlobArray<std::uint32_t> slots_;         // hash table of word ids + 1; 0 is an empty slot
    BlobArray<std::uint32_t> text_offsets_;  // word k is texts_[text_offsets_[k] .. [k + 1])
    BlobArray<std::uint8_t> flags_;
    BlobArray<std::uint32_t> synset_offsets_, synsets_;
    BlobArray<std::uint32_t> irregular_forms_, bases_;  // in pairs, by form
    // Nodes level by level, the children of a node together and ordered by word. The n-th node
    // that has children has the n-th of these groups.
    BlobArray<std::uint16_t> node_words_;
    BlobArray<std::uint64_t> parent_bits_, group_bits_;  // has children; is the first of a group
    BlobArray<std::uint32_t> parent_ranks_;              // parents before each 64 nodes
    BlobArray<std::uint32_t> group_samples_;             // where every 16th group begins
    BlobArray<std::uint64_t> source_bits_, target_bits_;
    BlobArray<std::uint32_t> list_offsets_;  // where the lists of each 64 nodes begin
    const std::uint8_t* lists_ = nullptr;    // see targets()
    std::size_t lists_size_ = 0;
};

}  // namespace reelscore
