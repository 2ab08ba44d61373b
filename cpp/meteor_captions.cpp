#include "meteor_captions.hpp"

#include <algorithm>
#include <utility>

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

// How many captions, words or phrases a thread takes at a time: few large blocks, since each has to
// fill tables of its own, but enough of them to keep all threads at work.
size_t block_size(size_t size, size_t threads) {
    return std::max<size_t>(512, size / (2 * std::max<size_t>(1, threads)) + 1);
}
constexpr uint32_t kNone = LanguageIndex::kNone;

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

bool ends_with(string_view text, string_view suffix) {
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// The base form that regular morphology gives, as an indexed word, or kNone.
uint32_t regular_base(const LanguageIndex& index, string_view word) {
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

}  // namespace

std::vector<uint32_t> synsets_of(const LanguageIndex& index, string_view word) {
    std::vector<uint32_t> found;
    const auto append = [&](uint32_t form) {
        const BlobSpan numbers = index.synsets(form);
        for (size_t k = 0; k < numbers.size(); ++k) found.push_back(numbers[k]);
    };
    const uint32_t indexed = index.find(word);
    if (indexed != kNone) append(indexed);
    const BlobSpan bases = indexed != kNone ? index.bases(indexed) : BlobSpan{};
    for (size_t k = 0; k < bases.size(); ++k) append(bases[k]);
    if (bases.empty()) {
        const uint32_t base = regular_base(index, word);
        if (base != kNone) append(base);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
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

std::vector<uint32_t> MeteorCaptions::add(StringsView texts) {
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

void MeteorCaptions::analyze() {
    split_into_words();
    learn_words();
    if (options_.paraphrases) {
        find_phrases();
    } else {
        phrase_offsets_.assign(texts_.size() + 1, 0);
    }
}

void MeteorCaptions::split_into_words() {
    struct Block {  // captions whose words are numbered among themselves
        Vocabulary vocabulary;
        std::vector<uint32_t> words;
        std::vector<size_t> counts;
    };
    const size_t block_length = block_size(texts_.size(), threads_);
    std::vector<Block> blocks((texts_.size() + block_length - 1) / block_length);
    parallel_blocks(texts_.size(), block_length, threads_, [&](size_t begin, size_t end) {
        MeteorNormalizer normalizer(index_);
        Block& block = blocks[begin / block_length];
        Strings words;
        for (size_t k = begin; k < end; ++k) {
            words.clear();
            block.counts.push_back(normalizer.append_words(texts_[k], options_.normalize, words));
            for (size_t w = 0; w < words.size(); ++w) {
                block.words.push_back(block.vocabulary.id(words.view()[w]));
            }
        }
    });
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

uint32_t MeteorCaptions::word_id(string_view word) {
    return word_table_.find_or_add(
        hash_bytes(word), [&](uint32_t id) { return text(id) == word; },
        [&] {
            word_texts_.push_back(word);
            return static_cast<uint32_t>(word_texts_.size() - 1);
        });
}

// Looking a word up costs cache misses, so that is done in parallel; numbers are then given in the
// order of the words.
void MeteorCaptions::learn_words() {
    struct Learnt {
        uint32_t indexed, first_node, key, stem;
        std::vector<uint32_t> synsets;
    };
    std::vector<Learnt> learnt(word_texts_.size());
    parallel_blocks(learnt.size(), block_size(learnt.size(), threads_), threads_,
                    [&](size_t begin, size_t end) {
                        std::string stemmed;
                        for (size_t word = begin; word < end; ++word) {
                            const string_view spelling = text(static_cast<uint32_t>(word));
                            Learnt& facts = learnt[word];
                            facts.indexed = index_.find(spelling);
                            facts.first_node =
                                facts.indexed == kNone ? kNone : index_.first_node(facts.indexed);
                            stemmed.assign(spelling);
                            if (options_.stems == nullptr) {
                                stem(stemmed);
                            } else if (const auto found = options_.stems->find(stemmed);
                                       found != options_.stems->end()) {
                                stemmed = found->second;
                            }
                            facts.key = java_hash(spelling);
                            facts.stem = java_hash(stemmed);
                            if (options_.synonyms) facts.synsets = synsets_of(index_, spelling);
                        }
                    });
    for (const Learnt& word : learnt) {
        indexed_words_.push_back(word.indexed);
        first_nodes_.push_back(word.first_node);
        WordFacts facts;
        facts.key = keys_.id_of(word.key);
        facts.stem = stems_.id_of(word.stem);
        facts.is_function_word = word.indexed != kNone && index_.is_function_word(word.indexed);
        facts.synsets_begin = static_cast<uint32_t>(synset_ids_.size());
        for (uint32_t number : word.synsets) synset_ids_.push_back(synset_numbers_.id_of(number));
        facts.synsets_end = static_cast<uint32_t>(synset_ids_.size());
        facts_.push_back(facts);
    }
}

// Finds phrases of the table in captions. Steps in the trie cost several cache misses and recur
// all the time (in + a, of + the), so a small table remembers the latest ones.
class MeteorCaptions::PhraseWalker {
  public:
    explicit PhraseWalker(const MeteorCaptions& captions)
        : captions_(captions), index_(captions.index_), memory_(kMemorySize) {}

    // Every phrase that stands in the caption, by start and then by length. The phrase is given
    // as its node in the language index.
    void append_phrases(size_t caption, std::vector<PhraseOccurrence>& found) {
        const Slice<uint32_t> words = captions_.words(static_cast<uint32_t>(caption));
        for (size_t start = 0; start < words.size; ++start) {
            const size_t limit = std::min<size_t>(words.size - start, index_.longest_phrase());
            uint32_t node = kNone;
            for (size_t length = 1; length <= limit; ++length) {
                const uint32_t word = words[start + length - 1];
                node = length == 1 ? captions_.first_nodes_[word] : next_node(node, word);
                if (node == kNone) break;
                if (index_.is_source(node) || index_.is_target(node)) {
                    found.push_back(
                        {node, static_cast<uint32_t>(start), static_cast<uint32_t>(length)});
                }
            }
        }
    }

  private:
    static constexpr size_t kMemorySize = 1 << 14;
    struct Step {
        uint32_t node = kNone, word = kNone, next = kNone;
    };

    uint32_t next_node(uint32_t node, uint32_t word) {
        const uint32_t hash = (node * 0x9E3779B1u ^ word) * 0x85EBCA77u;
        Step& step = memory_[(hash >> 16) % kMemorySize];
        if (step.node != node || step.word != word) {
            const uint32_t indexed = captions_.indexed_words_[word];
            step = {node, word, indexed == kNone ? kNone : index_.next_node(node, indexed)};
        }
        return step.next;
    }

    const MeteorCaptions& captions_;
    const LanguageIndex& index_;
    std::vector<Step> memory_;
};

void MeteorCaptions::find_phrases() {
    const size_t block_length = block_size(texts_.size(), threads_);
    std::vector<std::vector<PhraseOccurrence>> blocks((texts_.size() + block_length - 1) /
                                                      block_length);
    std::vector<size_t> counts(texts_.size());
    parallel_blocks(texts_.size(), block_length, threads_, [&](size_t begin, size_t end) {
        PhraseWalker walker(*this);
        std::vector<PhraseOccurrence>& found = blocks[begin / block_length];
        for (size_t k = begin; k < end; ++k) {
            const size_t before = found.size();
            walker.append_phrases(k, found);
            counts[k] = found.size() - before;
        }
    });
    IntegerTable nodes;
    for (std::vector<PhraseOccurrence>& block : blocks) {
        for (PhraseOccurrence& occurrence : block) {
            occurrence.phrase = nodes.id_of(occurrence.phrase);
            phrases_.push_back(occurrence);
        }
        block = {};
    }
    for (size_t count : counts) phrase_offsets_.push_back(phrase_offsets_.back() + count);
    link_paraphrases(nodes);
    link_back();
    drop_useless_phrases();
}

// The words of each phrase, where it first occurs.
std::vector<Slice<uint32_t>> MeteorCaptions::spell_phrases(size_t count) const {
    std::vector<Slice<uint32_t>> spellings(count);
    for (size_t caption = 0, k = 0; caption < texts_.size(); ++caption) {
        for (; k < phrase_offsets_[caption + 1]; ++k) {
            const PhraseOccurrence& occurrence = phrases_[k];
            Slice<uint32_t>& spelling = spellings[occurrence.phrase];
            if (spelling.size > 0) continue;
            const Slice<uint32_t> words = this->words(static_cast<uint32_t>(caption));
            spelling = {words.data + occurrence.start, occurrence.length};
        }
    }
    return spellings;
}

// METEOR meets paraphrases in the order of its table, which is that of their texts.
void MeteorCaptions::sort_by_spelling(std::vector<uint32_t>& phrases,
                                      const std::vector<Slice<uint32_t>>& spellings) const {
    std::sort(phrases.begin(), phrases.end(), [&](uint32_t a, uint32_t b) {
        const Slice<uint32_t>&one = spellings[a], &other = spellings[b];
        return std::lexicographical_compare(
            one.begin(), one.end(), other.begin(), other.end(),
            [&](uint32_t x, uint32_t y) { return indexed_words_[x] < indexed_words_[y]; });
    });
}

void MeteorCaptions::link_paraphrases(const IntegerTable& nodes) {
    std::vector<std::pair<uint32_t, uint32_t>> ids;  // node, phrase: sorted for look-up
    std::vector<bool> present(index_.node_count());
    for (uint32_t phrase = 0; phrase < nodes.size(); ++phrase) {
        ids.emplace_back(static_cast<uint32_t>(nodes.values()[phrase]), phrase);
        present[nodes.values()[phrase]] = true;
    }
    std::sort(ids.begin(), ids.end());
    const std::vector<Slice<uint32_t>> spellings = spell_phrases(nodes.size());
    std::vector<std::vector<uint32_t>> found(nodes.size());
    parallel_blocks(
        nodes.size(), block_size(nodes.size(), threads_), threads_, [&](size_t begin, size_t end) {
            std::vector<uint32_t> targets;
            for (size_t phrase = begin; phrase < end; ++phrase) {
                index_.targets(static_cast<uint32_t>(nodes.values()[phrase]), targets);
                for (uint32_t node : targets) {
                    if (node >= present.size() || !present[node]) continue;
                    found[phrase].push_back(
                        std::lower_bound(ids.begin(), ids.end(), std::make_pair(node, 0u))->second);
                }
                sort_by_spelling(found[phrase], spellings);
            }
        });
    for (const std::vector<uint32_t>& targets : found) {
        targets_.insert(targets_.end(), targets.begin(), targets.end());
        target_offsets_.push_back(targets_.size());
    }
}

void MeteorCaptions::link_back() {
    source_offsets_.assign(phrase_count() + 1, 0);
    sources_.resize(targets_.size());
    for (uint32_t target : targets_) ++source_offsets_[target + size_t{1}];
    for (size_t k = 0; k < phrase_count(); ++k) source_offsets_[k + 1] += source_offsets_[k];
    std::vector<size_t> next(source_offsets_.begin(), source_offsets_.end() - 1);
    for (uint32_t source = 0; source < phrase_count(); ++source) {
        for (uint32_t target : paraphrases(source)) sources_[next[target]++] = source;
    }
}

// Most phrases of a caption have no counterpart in any other caption.
void MeteorCaptions::drop_useless_phrases() {
    std::vector<bool> useful(phrase_count());
    for (uint32_t phrase = 0; phrase < useful.size(); ++phrase) {
        useful[phrase] = paraphrases(phrase).size + sources(phrase).size > 0;
    }
    size_t kept = 0;
    for (size_t caption = 0, k = 0; caption < texts_.size(); ++caption) {
        for (; k < phrase_offsets_[caption + 1]; ++k) {
            if (useful[phrases_[k].phrase]) phrases_[kept++] = phrases_[k];
        }
        phrase_offsets_[caption + 1] = kept;
    }
    phrases_.resize(kept);
}

}  // namespace reelscore
