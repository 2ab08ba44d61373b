#include "meteor_captions.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace reelscore {
namespace {

using std::size_t;
using std::uint32_t;

constexpr size_t kBlock = 512;  // phrases that a thread takes at a time

}  // namespace

MeteorCaptions::MeteorCaptions(const MeteorTexts& texts,
                               std::initializer_list<const std::vector<uint32_t>*> ids,
                               size_t threads)
    : texts_(texts), ranges_(texts.size()) {
    std::vector<bool> seen(texts.size());
    for (const std::vector<uint32_t>* some : ids) {
        for (uint32_t id : *some) {
            if (seen[id]) continue;
            seen[id] = true;
            captions_.push_back(id);
        }
    }
    number_phrases();
    link_paraphrases(threads);
    link_back();
    nodes_ = {};
    spellings_ = {};
    drop_lone_phrases();
}

void MeteorCaptions::number_phrases() {
    size_t total = 0;
    for (uint32_t caption : captions_) total += texts_.phrases(caption).size;
    phrases_.reserve(total);
    for (uint32_t caption : captions_) {
        const uint32_t* const words = texts_.words(caption).data;
        ranges_[caption].begin = phrases_.size();
        for (const PhraseOccurrence& occurrence : texts_.phrases(caption)) {
            const uint32_t phrase = nodes_.id_of(occurrence.phrase);
            if (phrase == spellings_.size()) {
                spellings_.push_back({words + occurrence.start, occurrence.length});
            }
            phrases_.push_back({phrase, occurrence.start, occurrence.length});
        }
        ranges_[caption].end = phrases_.size();
    }
}

// METEOR meets paraphrases in the order of its table, which is that of their texts.
void MeteorCaptions::sort_by_spelling(uint32_t* begin, uint32_t* end) const {
    std::sort(begin, end, [&](uint32_t a, uint32_t b) {
        const Slice<uint32_t>&one = spellings_[a], &other = spellings_[b];
        return std::lexicographical_compare(
            one.begin(), one.end(), other.begin(), other.end(),
            [&](uint32_t x, uint32_t y) { return texts_.indexed(x) < texts_.indexed(y); });
    });
}

void MeteorCaptions::link_paraphrases(size_t threads) {
    const MeteorIndex& index = texts_.index();
    std::vector<bool> present(index.node_count());
    for (uint32_t node : nodes_.values()) present[node] = true;
    struct Block {
        std::vector<uint32_t> targets;
        std::vector<size_t> counts;
    };
    std::vector<Block> blocks((nodes_.size() + kBlock - 1) / kBlock);
    parallel_blocks(nodes_.size(), kBlock, threads, [&](size_t begin, size_t end) {
        Block& block = blocks[begin / kBlock];
        std::vector<uint32_t> targets;
        for (size_t phrase = begin; phrase < end; ++phrase) {
            const size_t before = block.targets.size();
            index.targets(nodes_.values()[phrase], targets);
            for (uint32_t node : targets) {
                if (node >= present.size() || !present[node]) continue;
                block.targets.push_back(nodes_.find(node));
            }
            uint32_t* const all = block.targets.data();
            sort_by_spelling(all + before, all + block.targets.size());
            block.counts.push_back(block.targets.size() - before);
        }
    });
    target_offsets_.reserve(nodes_.size() + 1);
    for (const Block& block : blocks) {
        targets_.insert(targets_.end(), block.targets.begin(), block.targets.end());
        for (size_t count : block.counts) target_offsets_.push_back(target_offsets_.back() + count);
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
void MeteorCaptions::drop_lone_phrases() {
    std::vector<bool> useful(phrase_count());
    for (uint32_t phrase = 0; phrase < useful.size(); ++phrase) {
        useful[phrase] = paraphrases(phrase).size + sources(phrase).size > 0;
    }
    size_t kept = 0;
    for (uint32_t caption : captions_) {
        Range& range = ranges_[caption];
        const size_t begin = kept;
        for (size_t k = range.begin; k < range.end; ++k) {
            if (useful[phrases_[k].phrase]) phrases_[kept++] = phrases_[k];
        }
        range = {begin, kept};
    }
    phrases_.resize(kept);
}

}  // namespace reelscore
