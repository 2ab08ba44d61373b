// Which words of two captions METEOR may match, and how. Sets of places in captions of up to 64
// words, a bit for each place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bits.hpp"

namespace reelscore {

constexpr std::size_t kMostPlaces = 64;

inline std::uint64_t places(std::size_t start, std::size_t length) {
    return (length >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1) << start;
}

// Words of one caption that may be matched: exactly, else by a synonym, else by stem or paraphrase.
// Where a caption has a word more often than the other, any of its places may be matched exactly,
// but not all of them: `exact` has as many as can be, `spare` the rest. `joined` has the places
// that may be in one chunk with the next.
struct MatchableSide {
    std::uint64_t exact = 0, spare = 0, synonym = 0, other = 0, joined = ~std::uint64_t{0};

    std::uint64_t together() const { return exact | synonym | other; }
    MatchableSide with_spare() const { return {exact | spare, 0, synonym, other, joined}; }

    // Adds all places of a word that the other caption has `count` times. Only the surplus needs
    // another kind of match, so it is where there is one, as far as there is any.
    void add_exact(std::uint64_t all, std::uint32_t count) {
        std::uint32_t surplus = count_bits(all);
        surplus = surplus > count ? surplus - count : 0;
        std::uint64_t left_over = 0;
        const std::uint64_t groups[] = {all & synonym, all & other & ~synonym,
                                        all & ~synonym & ~other};
        for (std::size_t k = 0; k < 3 && surplus > 0; ++k) {
            for (std::uint64_t group = groups[k]; group != 0 && surplus > 0; --surplus) {
                left_over |= group & (~group + 1);
                group &= group - 1;
            }
        }
        spare |= left_over;
        exact |= all & ~left_over;
    }
};

struct MatchableWords {
    MatchableSide candidate, reference;

    // Adds all places of a word, after those of synonyms and others.
    void add_exact(std::uint64_t in_candidate, std::uint64_t in_reference) {
        candidate.add_exact(in_candidate, count_bits(in_reference));
        reference.add_exact(in_reference, count_bits(in_candidate));
    }
};

}  // namespace reelscore
