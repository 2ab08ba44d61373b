// Numbers that depend on an item's id alone, wherever it is scored: hashes, and random draws.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strings.hpp"

namespace reelscore {

// A hash of each string, the same on every machine.
void string_hashes(StringsView strings, std::uint64_t* out);

// How often each item is drawn, Poisson distributed with mean 1: items x draws, for the draws from
// `first` on. The generator is Philox4x32-10 (Salmon et al., 2011): a number is a function of seed,
// draw and item, so that any part of the draws can be made anywhere. `first` is a multiple of 4.
void poisson_draws(const std::uint64_t* items, std::size_t size, std::uint64_t seed,
                   std::size_t first, std::size_t draws, std::uint8_t* out);

}  // namespace reelscore
