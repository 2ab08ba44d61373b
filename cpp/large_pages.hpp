// Memory of large tables. The system hands memory out in pages of 4 KiB, each when it is first
// written to, which takes longer than to fill it. Linux has pages of 2 MiB, too, for the asking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
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

// Lets the heap go on with large pages, for a program of one command. Only what is written to
// takes memory. Blocks of 4 MiB and more are not of the heap, and go back when they are freed. All
// threads share the heap: those of their own would be of small pages. What lies free at its end
// goes back where that is more than it began with.
inline void begin_heap_with_large_pages(std::size_t bytes) {
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, static_cast<int>(bytes + 2 * kLargePage));
    mallopt(M_TOP_PAD, static_cast<int>(bytes));
    const auto end = [] { return reinterpret_cast<std::uintptr_t>(sbrk(0)); };
    // The heap goes on a little before a large page: a page that is written to stays small. To what
    // lies between nothing is ever written.
    constexpr std::size_t kPiece = std::size_t{64} << 10;
    const std::uintptr_t large = (end() + 2 * kPiece + kLargePage - 1) / kLargePage * kLargePage;
    sbrk(static_cast<std::intptr_t>(large - 2 * kPiece - end()));
    const std::uintptr_t before = end();
    std::vector<void*> pieces;
    // It grows when its last block is used up.
    while (end() == before && pieces.size() < 64) pieces.push_back(std::malloc(kPiece));
    if (large < end()) madvise(reinterpret_cast<void*>(large), end() - large, MADV_HUGEPAGE);
    for (void* piece : pieces) std::free(piece);
    mallopt(M_TOP_PAD, 1 << 20);  // by which it grows from now on
#else
    static_cast<void>(bytes);
#endif
}

// Who hands out the arenas of a heap that is not of the C library.
struct Arenas {
    void* context;
    void* (*allocate)(void* context, std::size_t size);
    void (*free)(void* context, void* arena, std::size_t size);
};

// Lets such a heap go on with large pages; get and set say and change who hands out its arenas.
inline void begin_arenas_with_large_pages(std::size_t bytes, void (*get)(Arenas*),
                                          void (*set)(Arenas*)) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    static char *begin = nullptr, *next = nullptr, *end = nullptr;
    static Arenas beyond;  // where there is no room left
    if (begin) return;
    void* const room = mmap(nullptr, bytes + kLargePage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return;
    begin =
        static_cast<char*>(room) + kLargePage - reinterpret_cast<std::uintptr_t>(room) % kLargePage;
    next = begin;
    end = begin + bytes;
    madvise(begin, bytes, MADV_HUGEPAGE);
    get(&beyond);
    Arenas ours{};
    ours.allocate = [](void*, std::size_t size) -> void* {
        if (size > static_cast<std::size_t>(end - next)) {
            return beyond.allocate(beyond.context, size);
        }
        next += size;
        return next - size;
    };
    ours.free = [](void*, void* arena, std::size_t size) {
        if (arena < begin || arena >= end) {
            beyond.free(beyond.context, arena, size);
        } else {
            munmap(arena, size);
        }
    };
    set(&ours);
#else
    static_cast<void>(bytes);
    static_cast<void>(get);
    static_cast<void>(set);
#endif
}

}  // namespace reelscore
