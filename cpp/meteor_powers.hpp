// Powers of METEOR's fragmentation.
#pragma once

#include <cstddef>
#include <vector>

#include "precise_pow.hpp"

namespace reelscore {

// Remembers powers: few fractions occur, and a precise power costs as much as a short alignment.
class FragmentationPowers {
  public:
    explicit FragmentationPowers(double beta)
        : beta_(beta), known_(kChunkLimit * kMatchLimit, -1.0) {}

    // Of chunks over the mean matches of both sides; `matches` are those of both together.
    double operator()(double chunks, double matches) {
        if (chunks >= kChunkLimit || matches >= kMatchLimit) return compute(chunks, matches);
        double& known = known_[static_cast<std::size_t>(chunks) * kMatchLimit +
                               static_cast<std::size_t>(matches)];
        if (known < 0.0) known = compute(chunks, matches);
        return known;
    }

  private:
    static constexpr std::size_t kChunkLimit = 32, kMatchLimit = 128;

    double compute(double chunks, double matches) const {
        return precise_pow(chunks / (matches / 2.0), beta_);
    }

    double beta_;
    std::vector<double> known_;
};

}  // namespace reelscore
