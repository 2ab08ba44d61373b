// Runs work(begin, end) over [0, size) in blocks on several threads. Blocks are handed out in
// order from one counter; results must depend on the index alone, so that the thread count
// never shows in a number. The first exception of any thread is thrown to the caller. Where the
// system starts fewer threads than asked for, those that run do the work; the caller is one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace reelscore {

constexpr std::size_t kBlockSize = 64;  // captions of which each takes microseconds

template <typename Work>
void parallel_blocks(std::size_t size, std::size_t block, std::size_t threads, Work&& work) {
    const std::size_t blocks = (size + block - 1) / block;
    threads = std::max<std::size_t>(1, std::min(threads, blocks));
    if (threads == 1) {
        for (std::size_t begin = 0; begin < size; begin += block) {
            work(begin, std::min(size, begin + block));
        }
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    auto run = [&] {
        try {
            for (std::size_t k; (k = next.fetch_add(1)) < blocks;) {
                work(k * block, std::min(size, (k + 1) * block));
            }
        } catch (...) {
            std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
            next = blocks;
        }
    };
    std::vector<std::thread> pool;
    try {
        pool.reserve(threads - 1);
        while (pool.size() + 1 < threads) pool.emplace_back(run);
    } catch (const std::system_error&) {  // a limit on threads, processes or memory
    } catch (const std::bad_alloc&) {
    }
    run();
    for (auto& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace reelscore
