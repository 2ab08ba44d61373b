// Memory of large tables. The system hands memory out in pages of 4 KiB, each when it is first
// written to, which takes longer than to fill it. Linux has pages of 2 MiB, too, for the asking.
#pragma once

#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace reelscore {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

// For vectors that are filled as soon as they are made: a part of a page takes all of its memory.
template <typename Value>
struct LargePages {
    using value_type = Value;

    LargePages() = default;
    template <typename Other>
    LargePages(const LargePages<Other>&) {}

    Value* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(Value);
        if (bytes < kLargePage) return static_cast<Value*>(::operator new(bytes));
        void* const memory = ::operator new(bytes, std::align_val_t{kLargePage});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // else small pages serve
#endif
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* memory, std::size_t count) {
        if (count * sizeof(Value) < kLargePage) {
            ::operator delete(memory);
        } else {
            ::operator delete(memory, std::align_val_t{kLargePage});
        }
    }

    friend bool operator==(LargePages, LargePages) { return true; }
    friend bool operator!=(LargePages, LargePages) { return false; }
};

}  // namespace reelscore
