// Numbering of distinct things in the order of their first appearance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reelscore {

// A hash table of ids 0, 1, 2, ... whose keys are stored elsewhere; the caller says what equals
// what.
class IdTable {
  public:
    // The id for which equal(id) holds, or the new one that make() returns.
    template <typename Equal, typename Make>
    std::uint32_t find_or_add(std::uint64_t hash64, Equal&& equal, Make&& make) {
        const std::uint32_t hash = static_cast<std::uint32_t>(hash64);
        std::size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot].id_plus_1 != 0; slot = (slot + 1) & (slots_.size() - 1)) {
            const std::uint32_t id = slots_[slot].id_plus_1 - 1;
            if (slots_[slot].hash == hash && equal(id)) return id;
        }
        const std::uint32_t id = make();
        slots_[slot] = {hash, id + 1};
        if (++used_ * 3 > slots_.size() * 2) grow();
        return id;
    }

    // The id for which equal(id) holds, which must be there.
    template <typename Equal>
    std::uint32_t find(std::uint64_t hash64, Equal&& equal) const {
        const std::uint32_t hash = static_cast<std::uint32_t>(hash64);
        std::size_t slot = hash & (slots_.size() - 1);
        while (slots_[slot].hash != hash || !equal(slots_[slot].id_plus_1 - 1)) {
            slot = (slot + 1) & (slots_.size() - 1);
        }
        return slots_[slot].id_plus_1 - 1;
    }

  private:
    struct Slot {
        std::uint32_t hash = 0, id_plus_1 = 0;
    };

    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& entry : old) {
            if (entry.id_plus_1 == 0) continue;
            std::size_t slot = entry.hash & (slots_.size() - 1);
            while (slots_[slot].id_plus_1 != 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = entry;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(1024);
    std::size_t used_ = 0;
};

// Numbers for distinct integers of 32 bits, which their hashes tell apart.
class IntegerTable {
  public:
    std::uint32_t id_of(std::uint32_t value) {
        return table_.find_or_add(
            spread(value), [](std::uint32_t) { return true; },
            [&] {
                values_.push_back(value);
                return static_cast<std::uint32_t>(values_.size() - 1);
            });
    }
    // The number of an integer that has one.
    std::uint32_t find(std::uint32_t value) const {
        return table_.find(spread(value), [](std::uint32_t) { return true; });
    }
    const std::vector<std::uint32_t>& values() const { return values_; }
    std::size_t size() const { return values_.size(); }

  private:
    // Each step can be undone.
    static std::uint32_t spread(std::uint32_t value) {
        value *= 0x9E3779B1u;
        return value ^ value >> 15;
    }

    IdTable table_;
    std::vector<std::uint32_t> values_;
};

}  // namespace reelscore
