// Flat arrays with several owners: what Python holds of captions, words and numbers. Slices and
// views share the elements, which live as long as somebody looks at them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ngrams.hpp"
#include "strings.hpp"
#include "words.hpp"

namespace reelscore {

template <typename T>
class SharedArray {
  public:
    SharedArray() = default;
    // Elements that live as long as their owner.
    SharedArray(std::shared_ptr<const void> owner, const T* data, std::size_t size)
        : owner_(std::move(owner)), data_(data), size_(size) {}
    // Takes over the elements of a container.
    template <typename Container>
    static SharedArray of(Container&& elements) {
        const auto owner = std::make_shared<Container>(std::move(elements));
        return {owner, owner->data(), owner->size()};
    }

    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    const T& operator[](std::size_t k) const { return data_[k]; }
    const std::shared_ptr<const void>& owner() const { return owner_; }
    SharedArray slice(std::size_t begin, std::size_t end) const {
        if (begin > end || end > size_) throw std::out_of_range("no such slice");
        return {owner_, data_ + begin, end - begin};
    }

  private:
    std::shared_ptr<const void> owner_;
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

// Lists of values, one after the other: list k is values[offsets[k] .. offsets[k + 1]).
template <typename T>
struct SharedLists {
    SharedArray<T> values;
    SharedArray<std::int64_t> offsets;

    std::size_t size() const { return offsets.size() - 1; }
    SharedLists slice(std::size_t begin, std::size_t end) const {
        return {values, offsets.slice(begin, end + 1)};
    }
    // Lists by number, in the order given.
    SharedLists take(const std::int64_t* numbers, std::size_t count) const {
        std::vector<std::int64_t> ends(count + 1, 0);
        for (std::size_t k = 0; k < count; ++k) {
            const auto number = static_cast<std::size_t>(numbers[k]);
            if (number >= size()) throw std::out_of_range("no such text");
            ends[k + 1] = ends[k] + offsets[number + 1] - offsets[number];
        }
        std::vector<T> taken;
        taken.reserve(static_cast<std::size_t>(ends.back()));
        for (std::size_t k = 0; k < count; ++k) {
            const auto number = static_cast<std::size_t>(numbers[k]);
            taken.insert(taken.end(), values.data() + offsets[number],
                         values.data() + offsets[number + 1]);
        }
        return {SharedArray<T>::of(std::move(taken)),
                SharedArray<std::int64_t>::of(std::move(ends))};
    }
};

using SharedStrings = SharedLists<char>;
using SharedWords = SharedLists<std::uint32_t>;

inline SharedStrings shared(Strings&& strings) {
    return {SharedArray<char>::of(std::move(strings.bytes)),
            SharedArray<std::int64_t>::of(std::move(strings.offsets))};
}
inline SharedWords shared(Words&& words) {
    return {SharedArray<std::uint32_t>::of(std::move(words.ids)),
            SharedArray<std::int64_t>::of(std::move(words.offsets))};
}
inline StringsView view(const SharedStrings& strings) {
    return {strings.values.data(), strings.offsets.data(), strings.size()};
}
inline WordsView view(const SharedWords& words) {
    return {words.values.data(), words.offsets.data(), words.size()};
}

// A matrix of numbers, row by row.
struct SharedRows {
    SharedArray<double> values;
    std::size_t size = 0;
    std::size_t columns = 0;
    bool is_own = false;  // made by the core, so that whoever gets it may write to it

    static SharedRows of(std::vector<double>&& values, std::size_t size, std::size_t columns) {
        return {SharedArray<double>::of(std::move(values)), size, columns, true};
    }
};

// A pairing whose arrays are shared.
struct SharedPairing {
    SharedArray<std::int64_t> items;
    SharedArray<std::int64_t> reference_offsets;

    // Items in their order, each for so many candidates.
    static SharedPairing in_order(SharedArray<std::int64_t> reference_offsets, std::size_t times) {
        std::vector<std::int64_t> items((reference_offsets.size() - 1) * times);
        for (std::size_t k = 0; k < items.size(); ++k) items[k] = std::int64_t(k / times);
        return {SharedArray<std::int64_t>::of(std::move(items)), std::move(reference_offsets)};
    }

    SharedPairing slice(std::size_t begin, std::size_t end) const {
        return {items.slice(begin, end), reference_offsets};
    }

    // The references in the order of the candidates: candidate k has those from entry k up to
    // entry k + 1 of the offsets. Candidates usually stand in the order of their items: then
    // nothing is copied.
    std::pair<SharedStrings, SharedArray<std::int64_t>> in_order(
        const SharedStrings& references) const {
        const Pairing pairing = view();
        std::vector<std::int64_t> offsets{0};
        offsets.reserve(items.size() + 1);
        bool adjoin = true;
        for (std::size_t k = 0; k < items.size(); ++k) {
            adjoin = adjoin && (k == 0 || pairing.begin(k) == pairing.end(k - 1));
            offsets.push_back(offsets.back() + std::int64_t(pairing.end(k) - pairing.begin(k)));
        }
        SharedStrings own;
        if (adjoin) {
            const std::size_t begin = items.size() == 0 ? 0 : pairing.begin(0);
            own = references.slice(begin, begin + std::size_t(offsets.back()));
        } else {
            std::vector<std::int64_t> numbers(static_cast<std::size_t>(offsets.back()));
            for (std::size_t k = 0; k < items.size(); ++k) {
                std::iota(numbers.begin() + offsets[k], numbers.begin() + offsets[k + 1],
                          std::int64_t(pairing.begin(k)));
            }
            own = references.take(numbers.data(), numbers.size());
        }
        return {std::move(own), SharedArray<std::int64_t>::of(std::move(offsets))};
    }

    Pairing view() const { return {items.data(), reference_offsets.data()}; }
};

}  // namespace reelscore
