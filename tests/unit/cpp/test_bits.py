"""The forms that compilers without 128-bit integers and bit counts get equal the built-in ones."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CPP = Path(__file__).parents[3] / "cpp"
PROGRAM = r"""
#define REELSCORE_NO_INT128
#include "bits.hpp"

#include <cstdio>
#include <random>

using Builtin = unsigned __int128;
using reelscore::Wide;

bool same(Wide wide, Builtin number) {
    return wide.high == static_cast<std::uint64_t>(number >> 64) &&
           wide.low == static_cast<std::uint64_t>(number);
}

int main() {
    std::mt19937_64 random(1);
    for (int k = 0; k < 200000; ++k) {
        // few bits now and then: sums that carry, differences that borrow, equal halves
        const std::uint64_t a = random() >> random() % 64, b = random() >> random() % 64;
        const unsigned shift = random() % 128, small = random() % 64;
        const Wide x = (Wide{a} << shift) + Wide{b}, y = (Wide{b} << small) + Wide{a};
        const Builtin p = (Builtin{a} << shift) + b, q = (Builtin{b} << small) + a;
        if (!same(x, p) || !same(y, q) || !same(x - y, p - q) || !same(x & ~y, p & ~q) ||
            (x < y) != (p < q) || (x >= y) != (p >= q) ||
            static_cast<std::size_t>(x) != static_cast<std::size_t>(p)) {
            std::printf("wide numbers differ at %d\n", k);
            return 1;
        }
        const std::uint64_t bits = a | 1ULL << small;
        const int expected[] = {__builtin_popcountll(bits), __builtin_ctzll(bits),
                                64 - __builtin_clzll(bits)};
        const int counted[] = {static_cast<int>(reelscore::count_bits(bits)),
                               static_cast<int>(reelscore::lowest_bit(bits)),
                               static_cast<int>(reelscore::bits_for(bits))};
        for (int i = 0; i < 3; ++i) {
            if (counted[i] != expected[i]) {
                std::printf("bits differ at %d\n", k);
                return 1;
            }
        }
    }
    return reelscore::bits_for(0) == 1 ? 0 : 1;
}
"""


@pytest.mark.parametrize("define", ["", "-DREELSCORE_NO_BUILTINS"])
def test_portable_forms(tmp_path, define):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler on this machine")
    source, program = tmp_path / "bits.cpp", tmp_path / "bits"
    source.write_text(PROGRAM)
    options = ["-std=c++17", "-O1", "-Wall", "-Werror", *define.split(), f"-I{CPP}"]
    subprocess.run([compiler, *options, str(source), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)
