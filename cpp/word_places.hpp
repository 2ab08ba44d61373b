// Where the words of a short caption stand, a bit for each place: two captions are then compared
// without looking words up one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "words.hpp"

namespace reelscore {

class WordPlaces {
  public:
    static constexpr std::size_t kMostWords = 64;

    // The caption may have up to kMostWords words.
    void set(WordsView::Run words) {
        for (std::size_t k = 0; k < used_count_; ++k) slots_[used_[k]].places = 0;
        used_count_ = 0;
        for (std::size_t k = 0; k < words.size; ++k) {
            const std::size_t slot = slot_of(words[k]);
            if (slots_[slot].places == 0) {
                slots_[slot].word = words[k];
                used_[used_count_++] = static_cast<std::uint8_t>(slot);
            }
            slots_[slot].places |= std::uint64_t{1} << k;
        }
    }

    std::uint64_t operator[](std::uint32_t word) const { return slots_[slot_of(word)].places; }

  private:
    static constexpr unsigned kSlotBits = 8;
    static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
    struct Slot {
        std::uint64_t places = 0;  // 0 where free
        std::uint32_t word = 0;
    };

    std::size_t slot_of(std::uint32_t word) const {
        std::size_t slot = word * 0x9e3779b9u >> (32 - kSlotBits);
        while (slots_[slot].places != 0 && slots_[slot].word != word) slot = (slot + 1) % kSlots;
        return slot;
    }

    std::array<Slot, kSlots> slots_;
    std::array<std::uint8_t, kMostWords> used_;
    std::size_t used_count_ = 0;
};

}  // namespace reelscore
