#include "meteor_texts.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "hashing.hpp"
#include "meteor_normalize.hpp"
#include "parallel.hpp"
#include "stemmer.hpp"
#include "unicode.hpp"
#include "words.hpp"

namespace reelscore {
namespace {

using std::size_t;
using std::string_view;
using std::uint32_t;

constexpr size_t kMostBytes = size_t{8} << 20;  // of texts that are kept from call to call
constexpr size_t kMostWords = 1 << 16;          // likewise
constexpr size_t kMostIdle = 2;
constexpr size_t kFewTexts = 512;  // that a thread takes at a time, at least
// To make room for, a little more than captions have.
constexpr double kPhrasesPerWord = 1.25, kWordsPerCharacter = 0.2;
constexpr size_t kSynsetsPerWord = 8;
constexpr size_t kAhead = 4;  // words before one at which its phrases are asked for

// Whether texts of so many bytes are too much to be kept: analysed, they take five times as many.
bool is_too_much(size_t bytes) {
    return 5 * bytes > kMostBytes;
}

// How many texts or words a thread takes at a time: few large blocks, since each has to
// fill tables of its own, but enough of them to keep all threads at work.
size_t texts_per_block(size_t size, size_t threads) {
    return std::max<size_t>(kFewTexts, size / (2 * std::max<size_t>(1, threads)) + 1);
}
constexpr uint32_t kNone = MeteorIndex::kNone;

// Exactly as much as is needed for the first time, then as vectors grow.
template <typename Value>
void make_room(std::vector<Value>& values, size_t count) {
    if (values.empty()) values.reserve(count);
}

struct Ending {
    string_view from, to;
};

// WordNet's rules of detachment for nouns, verbs and adjectives, one after the other: METEOR does
// not know the part of speech. The first result that WordNet lists wins.
constexpr Ending kDetachments[] = {
    {"s", ""},      {"ses", "s"},   {"xes", "x"}, {"zes", "z"}, {"ches", "ch"},
    {"shes", "sh"}, {"men", "man"}, {"ies", "y"}, {"s", ""},    {"ies", "y"},
    {"es", "e"},    {"es", ""},     {"ed", "e"},  {"ed", ""},   {"ing", "e"},
    {"ing", ""},    {"er", ""},     {"est", ""},  {"er", "e"},  {"est", "e"},
};

// The base form that regular morphology gives, as an indexed word, or kNone.
uint32_t regular_base(const MeteorIndex& index, string_view word) {
    if (word.size() <= 2 || ends_with(word, "ss")) return kNone;
    std::string base;
    for (const Ending& rule : kDetachments) {
        if (!ends_with(word, rule.from)) continue;
        base.assign(word.substr(0, word.size() - rule.from.size())).append(rule.to);
        const uint32_t found = index.find(base);
        if (found != kNone && !index.synsets(found).empty()) return found;
    }
    return kNone;
}

// Appends the synsets of a word, whose id in the index is known; sorted, each once.
void append_synsets(const MeteorIndex& index, uint32_t indexed, string_view word,
                    std::vector<uint32_t>& found) {
    const size_t first = found.size();
    const auto append = [&](uint32_t form) {
        const BlobSpan numbers = index.synsets(form);
        for (size_t k = 0; k < numbers.size(); ++k) found.push_back(numbers[k]);
    };
    if (indexed != kNone) append(indexed);
    const BlobSpan bases = indexed != kNone ? index.bases(indexed) : BlobSpan{};
    for (size_t k = 0; k < bases.size(); ++k) append(bases[k]);
    if (bases.empty()) {
        const uint32_t base = regular_base(index, word);
        if (base != kNone) append(base);
    }
    const auto begin = found.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, found.end());
    found.erase(std::unique(begin, found.end()), found.end());
}

}  // namespace

std::vector<uint32_t> synsets_of(const MeteorIndex& index, string_view word) {
    std::vector<uint32_t> found;
    append_synsets(index, index.find(word), word, found);
    return found;
}

uint32_t java_hash(string_view text) {
    uint32_t hash = 0;
    for (size_t k = 0; k < text.size();) {
        if (static_cast<unsigned char>(text[k]) < 0x80) {
            hash = hash * 31 + static_cast<unsigned char>(text[k++]);
            continue;
        }
        const uint32_t code_point = decode(text, k);
        if (code_point < 0x10000) {
            hash = hash * 31 + code_point;
        } else {
            hash = hash * 31 + (0xD800 + ((code_point - 0x10000) >> 10));
            hash = hash * 31 + (0xDC00 + ((code_point - 0x10000) & 0x3FF));
        }
    }
    return hash;
}

std::vector<uint32_t> MeteorTexts::add(StringsView texts) {
    std::vector<uint32_t> ids(texts.size);
    for (size_t k = 0; k < texts.size; ++k) {
        const string_view text = texts[k];
        ids[k] = text_table_.find_or_add(
            hash_bytes(text), [&](uint32_t id) { return texts_[id] == text; },
            [&] {
                texts_.push_back(text);
                return static_cast<uint32_t>(texts_.size() - 1);
            });
    }
    return ids;
}

void MeteorTexts::analyze(size_t threads) {
    split_into_words(threads);
    learn_words(threads);
    if (options_.paraphrases) {
        find_phrases(threads);
    } else {
        phrases_.resize(texts_.size());
    }
}

// Each block of texts numbers its words among themselves; these then get their final numbers.
void MeteorTexts::split_into_words(size_t threads) {
    struct Block {
        Vocabulary vocabulary;
        std::vector<uint32_t> words;
        std::vector<size_t> counts;
    };
    const size_t first = word_offsets_.size() - 1, size = texts_.size() - first;
    const size_t block_length = texts_per_block(size, threads);
    std::vector<Block> blocks((size + block_length - 1) / block_length);
    parallel_blocks(size, block_length, threads, [&](size_t begin, size_t end) {
        MeteorNormalizer normalizer(index_);
        Block& block = blocks[begin / block_length];
        size_t characters = 0;
        for (size_t k = begin; k < end; ++k) characters += texts_[first + k].size();
        block.words.reserve(static_cast<size_t>(kWordsPerCharacter * characters));
        for (size_t k = begin; k < end; ++k) {
            const size_t before = block.words.size();
            normalizer.visit_words(texts_[first + k], options_.normalize,
                                   [&](string_view word, std::uint64_t hash) {
                                       block.words.push_back(block.vocabulary.id(word, hash));
                                   });
            block.counts.push_back(block.words.size() - before);
        }
    });
    size_t total = 0;
    for (const Block& block : blocks) total += block.words.size();
    make_room(words_, total);
    std::vector<uint32_t> ids;
    for (Block& block : blocks) {
        ids.clear();
        for (size_t k = 0; k < block.vocabulary.size(); ++k) {
            ids.push_back(word_id(block.vocabulary.word(k)));
        }
        for (uint32_t word : block.words) words_.push_back(ids[word]);
        for (size_t count : block.counts) word_offsets_.push_back(word_offsets_.back() + count);
        block = {};
    }
}

uint32_t MeteorTexts::word_id(string_view word) {
    return word_table_.find_or_add(
        hash_bytes(word), [&](uint32_t id) { return spelling(id) == word; },
        [&] {
            spellings_.push_back(word);
            return static_cast<uint32_t>(spellings_.size() - 1);
        });
}

// Looking a word up costs cache misses, so that is done in parallel; numbers are then given in the
// order of the words.
void MeteorTexts::learn_words(size_t threads) {
    struct Learnt {
        uint32_t indexed, key, stem;
        MeteorIndex::FirstNode first_node;
        size_t synsets_end;  // in its block
    };
    struct Block {
        std::vector<Learnt> words;
        std::vector<uint32_t> synsets;
    };
    const size_t first = facts_.size(), size = spellings_.size() - first;
    const size_t block_length = texts_per_block(size, threads);
    std::vector<Block> blocks((size + block_length - 1) / block_length);
    parallel_blocks(size, block_length, threads, [&](size_t begin, size_t end) {
        Block& block = blocks[begin / block_length];
        block.words.reserve(end - begin);
        block.synsets.reserve(kSynsetsPerWord * (end - begin));
        std::string stemmed;
        for (size_t k = begin; k < end; ++k) {
            const auto word = [&](size_t ahead) {
                return spelling(static_cast<uint32_t>(first + std::min(k + ahead, end - 1)));
            };
            index_.expect_word(word(2 * kAhead));
            index_.expect_facts(word(kAhead));
            const string_view spelled = word(0);
            Learnt facts{};
            facts.indexed = index_.find(spelled);
            if (facts.indexed != kNone) facts.first_node = index_.first_node(facts.indexed);
            stemmed.assign(spelled);
            if (options_.stems == nullptr) {
                stem(stemmed);
            } else if (const auto found = options_.stems->find(stemmed);
                       found != options_.stems->end()) {
                stemmed = found->second;
            }
            facts.key = java_hash(spelled);
            facts.stem = java_hash(stemmed);
            if (options_.synonyms) append_synsets(index_, facts.indexed, spelled, block.synsets);
            facts.synsets_end = block.synsets.size();
            block.words.push_back(facts);
        }
    });
    for (Block& block : blocks) {
        const uint32_t* synset = block.synsets.data();
        for (const Learnt& word : block.words) {
            indexed_words_.push_back(word.indexed);
            first_nodes_.push_back(word.first_node);
            WordFacts facts;
            facts.key = keys_.id_of(word.key);
            facts.stem = stems_.id_of(word.stem);
            facts.is_function_word = word.indexed != kNone && index_.is_function_word(word.indexed);
            facts.synsets_begin = static_cast<uint32_t>(synset_ids_.size());
            for (; synset < block.synsets.data() + word.synsets_end; ++synset) {
                synset_ids_.push_back(synset_numbers_.id_of(*synset));
            }
            facts.synsets_end = static_cast<uint32_t>(synset_ids_.size());
            facts_.push_back(facts);
        }
        block = {};
    }
}

void MeteorTexts::append_phrases(size_t text, std::vector<PhraseOccurrence>& found) const {
    const Slice<uint32_t> words = this->words(static_cast<uint32_t>(text));
    if (words.size > PhraseOccurrence::kMostWords) {
        throw std::length_error("METEOR: a caption is too long to align");
    }
    const size_t longest = std::min<size_t>(index_.longest_phrase(), PhraseOccurrence::kLongest);
    const auto add = [&](uint32_t node, size_t start, size_t length) {
        found.push_back(
            {node, static_cast<uint32_t>(start) & 0xFFFFFF, static_cast<uint32_t>(length) & 0xFF});
    };
    for (size_t start = 0; start < words.size; ++start) {
        const size_t soon = start + kAhead;
        if (soon + 1 < words.size) {
            index_.expect_next(first_nodes_[words[soon]].node, indexed_words_[words[soon + 1]]);
        }
        const MeteorIndex::FirstNode& first = first_nodes_[words[start]];
        if (first.is_listed) add(first.node, start, 1);
        const size_t limit = std::min(words.size - start, longest);
        uint32_t node = first.node;
        for (size_t length = 1; node != kNone && length < limit;) {
            const uint32_t word = indexed_words_[words[start + length]];
            if (word == kNone) break;
            node = length == 1 ? index_.next_node(first, word) : index_.next_node(node, word);
            ++length;
            if (node != kNone && index_.is_listed(node)) add(node, start, length);
        }
    }
}

// Each block of texts keeps its phrases where they were found.
void MeteorTexts::find_phrases(size_t threads) {
    const size_t first = phrases_.size(), size = texts_.size() - first;
    const size_t first_block = phrase_blocks_.size();
    phrases_.resize(texts_.size());
    phrase_blocks_.resize(first_block + (size + kFewTexts - 1) / kFewTexts);
    parallel_blocks(size, kFewTexts, threads, [&](size_t begin, size_t end) {
        std::vector<PhraseOccurrence>& block = phrase_blocks_[first_block + begin / kFewTexts];
        const size_t words = word_offsets_[first + end] - word_offsets_[first + begin];
        block.reserve(static_cast<size_t>(kPhrasesPerWord * words));
        for (size_t k = begin; k < end; ++k) {
            const size_t before = block.size();
            append_phrases(first + k, block);
            phrases_[first + k].size = block.size() - before;
        }
        const PhraseOccurrence* place = block.data();
        for (size_t k = begin; k < end; ++k) {
            phrases_[first + k].data = place;
            place += phrases_[first + k].size;
        }
    });
}

size_t MeteorTexts::bytes() const {
    size_t characters = 0;
    for (string_view text : texts_) characters += text.size();
    const size_t each = sizeof(string_view) + 2 * sizeof(uint64_t) + sizeof(size_t) +
                        sizeof(Slice<PhraseOccurrence>);
    size_t phrases = 0;
    for (const std::vector<PhraseOccurrence>& block : phrase_blocks_) phrases += block.size();
    return characters + texts_.size() * each + words_.size() * sizeof words_[0] +
           phrases * sizeof(PhraseOccurrence);
}

void MeteorTexts::keep_texts() {
    size_t characters = 0;
    for (size_t k = kept_texts_; k < texts_.size(); ++k) characters += texts_[k].size();
    std::string& copy = kept_.emplace_back();
    copy.reserve(characters);
    for (; kept_texts_ < texts_.size(); ++kept_texts_) {
        string_view& text = texts_[kept_texts_];
        copy.append(text);
        text = string_view(copy).substr(copy.size() - text.size());
    }
}

std::unique_ptr<MeteorTexts> MeteorMemory::borrow(size_t bytes_to_add) {
    std::lock_guard<std::mutex> lock(guard_);
    if (is_too_much(bytes_to_add)) idle_.clear();  // it needs the room itself
    if (idle_.empty()) return std::make_unique<MeteorTexts>(index_, TextOptions{});
    std::unique_ptr<MeteorTexts> texts = std::move(idle_.back());
    idle_.pop_back();
    return texts;
}

void MeteorMemory::give_back(std::unique_ptr<MeteorTexts> texts, size_t bytes_added) {
    if (is_too_much(bytes_added) || texts->bytes() > kMostBytes) return;
    if (texts->word_count() > kMostWords) return;
    texts->keep_texts();
    std::lock_guard<std::mutex> lock(guard_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(texts));
}

size_t MeteorMemory::size() const {
    std::lock_guard<std::mutex> lock(guard_);
    size_t size = 0;
    for (const std::unique_ptr<MeteorTexts>& texts : idle_) size += texts->size();
    return size;
}

}  // namespace reelscore
