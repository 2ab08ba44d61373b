// METEOR on any captions: first line the candidate, the others its references. Scores lie in 0–1,
// the best reference is what scoring all of them gives, and neither threads nor texts scored before
// ever show. The index is small, made to give many ties and multi-word matches.
#include "../cpp/meteor.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "input.hpp"

using namespace reelscore;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string& blob = fuzz::small_index();
    const MeteorIndex index(reinterpret_cast<const std::byte*>(blob.data()), blob.size());
    const Strings texts = fuzz::captions(data, size);
    const StringsView all = texts.view();
    const auto references = static_cast<std::int64_t>(all.size) - 1;
    const std::array<std::int64_t, 2> offsets{0, references};
    const MeteorParameters parameters;
    std::array<double, kMeteorStatistics> one{}, two{};
    const StringsView candidate{all.bytes, all.offsets, 1};
    const StringsView rest{all.bytes, all.offsets + 1, static_cast<std::size_t>(references)};
    static MeteorMemory memory(index);
    MeteorMemory fresh(index);
    meteor_statistics(fresh, candidate, rest, offsets.data(), 1, parameters, 1, one.data());
    meteor_statistics(memory, candidate, rest, offsets.data(), 1, parameters, 2, two.data());
    fuzz::require(one == two);
    double score = 0.0;
    meteor_scores(one.data(), 1, parameters, &score);
    fuzz::require(score >= 0.0 && score <= 1.0 + 1e-12);
    if (references > 0) {
        const auto count = static_cast<std::size_t>(references);
        const std::vector<std::int64_t> candidates(count, 0);
        std::vector<std::int64_t> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 0);
        std::vector<double> rows(count * kMeteorStatistics), scores(count);
        meteor_pairs(fresh, candidate, rest, candidates.data(), numbers.data(), count, parameters,
                     1, rows.data(), scores.data());
        const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
        fuzz::require(std::equal(one.begin(), one.end(),
                                 rows.begin() + best * std::ptrdiff_t{kMeteorStatistics}));
        const MeteorAlignment found = meteor_alignment(index, all[0], all[1], parameters);
        for (const MeteorMatch& match : found.matches) {
            fuzz::require(match.candidate_start + match.candidate_length <=
                          found.candidate_words.size());
            fuzz::require(match.reference_start + match.reference_length <=
                          found.reference_words.size());
        }
    }
    return 0;
}
