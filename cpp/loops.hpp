// Captions that say the same words again and again, as language models do.
#pragma once

#include <cstdint>
#include <string_view>

namespace reelscore {

// The word from which on the same words come again at once, more often than people write; -1 where
// there is none. People write "very very very" and "one by one by one": a single word counts from
// the fourth time on, two or three from the third, a phrase of four words or more from the second.
// Words stand between white space, as Python's str.split() divides them.
std::int64_t loop_start(std::string_view text);

}  // namespace reelscore
