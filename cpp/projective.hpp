// The best dependency tree without crossing arcs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reelscore {

// Finds the projective tree with one root whose summed scores are the highest (Eisner, 1996).
// scores: for each word a row of `stride` numbers: the root as its head, then each word.
// heads: for each word its head, 0 for the root, else the number of a word from 1.
void projective_heads(const float* scores, std::size_t words, std::size_t stride,
                      std::int64_t* heads);

}  // namespace reelscore
