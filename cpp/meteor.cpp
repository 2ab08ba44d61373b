#include "meteor.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "meteor_bounds.hpp"
#include "meteor_candidates.hpp"
#include "meteor_captions.hpp"
#include "meteor_powers.hpp"
#include "parallel.hpp"
#include "precise_pow.hpp"

namespace reelscore {
namespace {

using std::int64_t;
using std::size_t;
using std::uint32_t;

// Positions in a statistics vector; those of a module are kModules + 4 * module + which.
enum Statistic : size_t {
    kCandidateLength,
    kReferenceLength,
    kCandidateFunction,
    kReferenceFunction,
    kModules,
    kChunks = kModules + 4 * kMeteorModules,
    kCandidateMatches,
    kReferenceMatches,
    kCountedChunks,
};
static_assert(kCountedChunks + 1 == kMeteorStatistics, "all have a place");

bool is_complete_in_one_chunk(const double* s) {
    return s[kCandidateMatches] == s[kCandidateLength] &&
           s[kReferenceMatches] == s[kReferenceLength] && s[kChunks] == 1.0;
}

// Weighted matches of one side (0 candidate, 1 reference). The order of additions is METEOR's.
double weighted_matches(const double* s, size_t side, const MeteorParameters& p) {
    double sum = 0.0;
    for (size_t m = 0; m < kMeteorModules; ++m) {
        sum += s[kModules + 4 * m + side] * p.weights[m] * p.delta;
    }
    for (size_t m = 0; m < kMeteorModules; ++m) {
        sum += s[kModules + 4 * m + 2 + side] * p.weights[m] * (1.0 - p.delta);
    }
    return sum;
}

double weighted_length(double length, double function_words, double delta) {
    return delta * (length - function_words) + (1.0 - delta) * function_words;
}

// The score; power(chunks, matches of both sides) must give the fragmentation to the power beta.
template <typename Power>
double score_with(const double* s, const MeteorParameters& p, Power&& power) {
    const double candidate_length =
        weighted_length(s[kCandidateLength], s[kCandidateFunction], p.delta);
    const double reference_length =
        weighted_length(s[kReferenceLength], s[kReferenceFunction], p.delta);
    const double precision = weighted_matches(s, 0, p) / candidate_length;
    const double recall = weighted_matches(s, 1, p) / reference_length;
    const double f = 1.0 / ((1.0 - p.alpha) / precision + p.alpha / recall);
    const double matches = s[kCandidateMatches] + s[kReferenceMatches];
    const double score = f * (1.0 - p.gamma * power(s[kCountedChunks], matches));
    return score > 0.0 ? score : 0.0;  // also for NaN, which no match at all gives
}

TextOptions options_for(const MeteorParameters& parameters) {
    return {parameters.normalize, parameters.modules[2], parameters.modules[3], parameters.stems};
}

// Aligns pairs of captions and counts; one per thread.
class PairScorer {
  public:
    PairScorer(const MeteorCaptions& captions, const MeteorParameters& parameters)
        : captions_(captions),
          parameters_(parameters),
          powers_(parameters.beta),
          bounds_(parameters, powers_),
          aligner_(captions, parameters.modules, parameters.beam) {}

    const MeteorAligner& aligner() const { return aligner_; }

    void set_candidate(uint32_t caption) {
        if (has_candidate_ && caption == candidate_) return;
        has_candidate_ = true;
        candidate_ = caption;
        candidate_function_ = function_words(caption);
        aligner_.set_candidate(caption);
    }
    void set_reference(uint32_t caption) {
        reference_ = caption;
        aligner_.set_reference(caption);
    }

    // Fills the statistics and returns the score.
    double score(double* statistics) {
        aligner_.align();
        const Slice<uint32_t> candidate = captions_.words(candidate_);
        const Slice<uint32_t> words = captions_.words(reference_);
        std::fill_n(statistics, kMeteorStatistics, 0.0);
        statistics[kCandidateLength] = static_cast<double>(candidate.size);
        statistics[kReferenceLength] = static_cast<double>(words.size);
        statistics[kCandidateFunction] = candidate_function_;
        statistics[kReferenceFunction] = function_words(reference_);
        for (const MeteorMatch& match : aligner_.matches()) {
            double* counts = statistics + kModules + 4 * static_cast<size_t>(match.module);
            for (size_t k = 0; k < match.candidate_length; ++k) {
                counts[2 * is_function_word(candidate[match.candidate_start + k])] += 1.0;
            }
            for (size_t k = 0; k < match.reference_length; ++k) {
                counts[1 + 2 * is_function_word(words[match.reference_start + k])] += 1.0;
            }
            statistics[kCandidateMatches] += match.candidate_length;
            statistics[kReferenceMatches] += match.reference_length;
        }
        statistics[kChunks] = aligner_.chunks();
        statistics[kCountedChunks] =
            is_complete_in_one_chunk(statistics) ? 0.0 : statistics[kChunks];
        return score_with(statistics, parameters_, powers_);
    }

    // Fills the statistics of the reference with the highest score, of equals the first. The most
    // alike come first, so that others can be left out unaligned: it is as if all were scored.
    void score_best(Slice<uint32_t> references, double* statistics) {
        order_.clear();
        for (uint32_t k = 0; k < references.size; ++k) {
            order_.push_back({references.size > 1 ? likeness(references[k]) : 0.0, k});
        }
        std::sort(order_.begin(), order_.end());
        std::fill_n(statistics, kMeteorStatistics, 0.0);
        const CaptionSize size(captions_, candidate_, parameters_.delta);
        double best_score = -1.0, row[kMeteorStatistics];
        uint32_t best = 0;
        for (const Ordered& one : order_) {
            set_reference(references[one.number]);
            if (best_score >= 0.0 && !may_reach(best_score, size)) continue;
            const double found = score(row);
            if (found < best_score || (found == best_score && one.number > best)) continue;
            best_score = found;
            best = one.number;
            std::copy_n(row, kMeteorStatistics, statistics);
        }
    }

  private:
    struct Ordered {
        double likeness;
        uint32_t number;

        bool operator<(const Ordered& other) const {
            return likeness != other.likeness ? likeness > other.likeness : number < other.number;
        }
    };

    // The weighted share of a reference's words that the candidate has.
    double likeness(uint32_t reference) const {
        double shared = 0.0, all = 0.0;
        for (uint32_t word : captions_.words(reference)) {
            const double weight =
                is_function_word(word) ? 1.0 - parameters_.delta : parameters_.delta;
            all += weight;
            if (aligner_.has_word(word)) shared += weight;
        }
        return all > 0.0 ? shared / all : 0.0;
    }
    // Whether a score may be as high as another one; often told without an alignment.
    bool may_reach(double other, const CaptionSize& candidate) {
        const CaptionSize reference(captions_, reference_, parameters_.delta);
        if (candidate.is_too_long || reference.is_too_long) return true;
        const MatchableWords words = aligner_.matchable_words();
        return bounds_.quick(words, candidate, reference) >= other &&
               bounds_.tight(words, candidate, reference) >= other;
    }
    bool is_function_word(uint32_t word) const { return captions_.facts(word).is_function_word; }
    double function_words(uint32_t caption) const {
        double count = 0.0;
        for (uint32_t word : captions_.words(caption)) count += is_function_word(word);
        return count;
    }

    const MeteorCaptions& captions_;
    const MeteorParameters& parameters_;
    FragmentationPowers powers_;
    ScoreBounds bounds_;
    MeteorAligner aligner_;
    bool has_candidate_ = false;
    uint32_t candidate_ = 0, reference_ = 0;
    double candidate_function_ = 0.0;
    std::vector<Ordered> order_;
};

// Lends scorers to threads: their memory grows with the vocabulary, so there are few of them.
class ScorerPool {
  public:
    ScorerPool(const MeteorCaptions& captions, const MeteorParameters& parameters)
        : captions_(captions), parameters_(parameters) {}

    std::unique_ptr<PairScorer> borrow() {
        {
            std::lock_guard<std::mutex> lock(guard_);
            if (!idle_.empty()) {
                std::unique_ptr<PairScorer> scorer = std::move(idle_.back());
                idle_.pop_back();
                return scorer;
            }
        }
        return std::make_unique<PairScorer>(captions_, parameters_);
    }
    void give_back(std::unique_ptr<PairScorer> scorer) {
        std::lock_guard<std::mutex> lock(guard_);
        idle_.push_back(std::move(scorer));
    }

  private:
    const MeteorCaptions& captions_;
    const MeteorParameters& parameters_;
    std::mutex guard_;
    std::vector<std::unique_ptr<PairScorer>> idle_;
};

using Ids = std::vector<uint32_t>;

// Analyzes all captions, then scores n candidates or pairs in blocks on several threads.
template <class ScoreOne>
void score_all(MeteorMemory& memory, StringsView candidates, StringsView references, size_t n,
               size_t block, const MeteorParameters& parameters, size_t threads,
               const ScoreOne& score_one) {
    const TextOptions options = options_for(parameters);
    const size_t bytes = candidates.total_bytes() + references.total_bytes();
    std::unique_ptr<MeteorTexts> texts =
        options.is_english() ? memory.borrow(bytes)
                             : std::make_unique<MeteorTexts>(memory.index(), options);
    const Ids candidate_ids = texts->add(candidates), reference_ids = texts->add(references);
    texts->analyze(threads);
    {
        const MeteorCaptions captions(*texts, {&candidate_ids, &reference_ids}, threads);
        ScorerPool pool(captions, parameters);
        parallel_blocks(n, block, threads, [&](size_t begin, size_t end) {
            std::unique_ptr<PairScorer> scorer = pool.borrow();
            for (size_t k = begin; k < end; ++k) {
                score_one(*scorer, candidate_ids, reference_ids, k);
            }
            pool.give_back(std::move(scorer));
        });
    }
    if (options.is_english()) memory.give_back(std::move(texts), bytes);
}

// Finds the best candidate for one item after the other; one per thread.
class BestFinder {
  public:
    BestFinder(const MeteorCaptions& captions, const CandidateIndex& index,
               const MeteorParameters& parameters, const Ids& candidates)
        : candidates_(candidates), scorer_(captions, parameters), bounds_(index, parameters) {}

    void begin_item() {
        best_ = 0;
        score_ = 0.0;
        aligned_ = 0;
    }
    void add_reference(uint32_t reference) {
        bounds_.set_reference(reference);
        likely_.clear();
        for (uint32_t k = 0; k < candidates_.size(); ++k) {
            const double bound = bounds_.quick(k);
            if (bound >= score_ && bound > 0.0) likely_.push_back({bound, k});
        }
        // A few good ones first, so that most of the others need not be bounded again.
        const size_t few = std::min<size_t>(kFew, likely_.size());
        std::partial_sort(likely_.begin(), likely_.begin() + static_cast<std::ptrdiff_t>(few),
                          likely_.end());
        tighten(0, few);
        std::sort(likely_.begin(), likely_.begin() + static_cast<std::ptrdiff_t>(few));
        size_t first = 0;
        for (; first < std::min<size_t>(few, kFirst); ++first) align(likely_[first], reference);
        tighten(few, likely_.size());
        likely_.erase(
            std::remove_if(likely_.begin() + static_cast<std::ptrdiff_t>(first), likely_.end(),
                           [&](const Likely& one) { return one.bound < score_; }),
            likely_.end());
        std::sort(likely_.begin() + static_cast<std::ptrdiff_t>(first), likely_.end());
        for (size_t k = first; k < likely_.size() && likely_[k].bound >= score_; ++k) {
            align(likely_[k], reference);
        }
    }
    uint32_t best() const { return best_; }
    double score() const { return score_; }
    int64_t aligned() const { return aligned_; }

  private:
    static constexpr size_t kFew = 64, kFirst = 4;
    struct Likely {
        double bound;
        uint32_t candidate;

        bool operator<(const Likely& other) const {
            return bound != other.bound ? bound > other.bound : candidate < other.candidate;
        }
    };

    void tighten(size_t begin, size_t end) {
        for (size_t k = begin; k < end; ++k) {
            if (likely_[k].bound >= score_) likely_[k].bound = bounds_.tight(likely_[k].candidate);
        }
    }
    void align(const Likely& one, uint32_t reference) {
        double statistics[kMeteorStatistics];
        scorer_.set_candidate(candidates_[one.candidate]);
        scorer_.set_reference(reference);
        const double score = scorer_.score(statistics);
        ++aligned_;
        if (score > score_ || (score == score_ && one.candidate < best_)) {
            score_ = score;
            best_ = one.candidate;
        }
    }

    const Ids& candidates_;
    PairScorer scorer_;
    ReferenceBounds bounds_;
    std::vector<Likely> likely_;
    uint32_t best_ = 0;
    double score_ = 0.0;  // the first candidate has at least that
    int64_t aligned_ = 0;
};

}  // namespace

void meteor_scores(const double* rows, size_t n, const MeteorParameters& parameters,
                   double* scores) {
    std::unordered_map<double, double> known;  // fractions of small numbers: few are different
    const auto power = [&](double chunks, double matches) {
        const double fragmentation = chunks / (matches / 2.0);
        if (std::isnan(fragmentation)) return fragmentation;  // no match at all
        const auto [place, is_new] = known.try_emplace(fragmentation);
        if (is_new) place->second = precise_pow(fragmentation, parameters.beta);
        return place->second;
    };
    for (size_t k = 0; k < n; ++k) {
        scores[k] = score_with(rows + k * kMeteorStatistics, parameters, power);
    }
}

void meteor_statistics(MeteorMemory& memory, StringsView candidates, StringsView references,
                       const int64_t* reference_offsets, size_t n,
                       const MeteorParameters& parameters, size_t threads, double* out) {
    const auto score_candidate = [&](PairScorer& scorer, const Ids& candidate_ids,
                                     const Ids& reference_ids, size_t k) {
        const auto begin = static_cast<size_t>(reference_offsets[k]);
        const auto end = static_cast<size_t>(reference_offsets[k + 1]);
        scorer.set_candidate(candidate_ids[k]);
        scorer.score_best({reference_ids.data() + begin, end - begin}, out + k * kMeteorStatistics);
    };
    score_all(memory, candidates, references, n, 64, parameters, threads, score_candidate);
}

void meteor_pairs(MeteorMemory& memory, StringsView candidates, StringsView references,
                  const int64_t* candidate_ids, const int64_t* reference_ids, size_t n,
                  const MeteorParameters& parameters, size_t threads, double* statistics,
                  double* scores) {
    const auto score_pair = [&](PairScorer& scorer, const Ids& candidate_captions,
                                const Ids& reference_captions, size_t k) {
        double row[kMeteorStatistics];
        scorer.set_candidate(candidate_captions[static_cast<size_t>(candidate_ids[k])]);
        scorer.set_reference(reference_captions[static_cast<size_t>(reference_ids[k])]);
        const double score = scorer.score(row);
        if (statistics) std::copy_n(row, kMeteorStatistics, statistics + k * kMeteorStatistics);
        if (scores) scores[k] = score;
    };
    score_all(memory, candidates, references, n, 1024, parameters, threads, score_pair);
}

void meteor_best(const MeteorIndex& index, StringsView candidates, StringsView references,
                 const int64_t* reference_offsets, size_t n, const MeteorParameters& parameters,
                 size_t threads, int64_t* best, double* scores, int64_t* aligned) {
    MeteorTexts texts(index, options_for(parameters));
    const Ids candidate_ids = texts.add(candidates), reference_ids = texts.add(references);
    texts.analyze(threads);
    const MeteorCaptions captions(texts, {&candidate_ids, &reference_ids}, threads);
    const CandidateIndex places(captions, candidate_ids, parameters.delta);
    std::mutex guard;
    std::vector<std::unique_ptr<BestFinder>> idle;
    parallel_blocks(n, 1, threads, [&](size_t item, size_t) {
        std::unique_ptr<BestFinder> finder;
        {
            std::lock_guard<std::mutex> lock(guard);
            if (!idle.empty()) {
                finder = std::move(idle.back());
                idle.pop_back();
            }
        }
        if (!finder) {
            finder = std::make_unique<BestFinder>(captions, places, parameters, candidate_ids);
        }
        finder->begin_item();
        for (int64_t r = reference_offsets[item]; r < reference_offsets[item + 1]; ++r) {
            finder->add_reference(reference_ids[static_cast<size_t>(r)]);
        }
        best[item] = finder->best();
        scores[item] = finder->score();
        aligned[item] = finder->aligned();
        std::lock_guard<std::mutex> lock(guard);
        idle.push_back(std::move(finder));
    });
}

MeteorAlignment meteor_alignment(const MeteorIndex& index, std::string_view candidate,
                                 std::string_view reference, const MeteorParameters& parameters) {
    Strings pair;
    pair.push_back(candidate);
    pair.push_back(reference);
    MeteorTexts texts(index, options_for(parameters));
    const Ids ids = texts.add(pair.view());
    texts.analyze(1);
    const MeteorCaptions captions(texts, {&ids}, 1);
    PairScorer scorer(captions, parameters);
    scorer.set_candidate(ids[0]);
    MeteorAlignment alignment;
    scorer.set_reference(ids[1]);
    alignment.score = scorer.score(alignment.statistics.data());
    alignment.matches = scorer.aligner().matches();
    for (uint32_t word : captions.words(ids[0])) {
        alignment.candidate_words.emplace_back(texts.spelling(word));
    }
    for (uint32_t word : captions.words(ids[1])) {
        alignment.reference_words.emplace_back(texts.spelling(word));
    }
    return alignment;
}

}  // namespace reelscore
