#!/usr/bin/env bash
# Fuzzes each kernel with AddressSanitizer and UndefinedBehaviorSanitizer; the seconds given are
# shared out among them. A finding stops the run and names the input that shows it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
build=build/fuzz
mkdir -p "$build"

targets=(tokenizer normalizer stemmer meteor index)
flags=(-std=c++17 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
    -fno-sanitize-recover=all)
kernels=()
clang++ -std=c++17 -O1 tools/make_ptb_tables.cpp cpp/ptb_patterns.cpp cpp/ptb_rules.cpp \
    cpp/unicode.cpp -o "$build/make_ptb_tables"
"$build/make_ptb_tables" >"$build/ptb_tables.inc"
newest=$(ls -t cpp/* | head -n 1) # headers count too: an old object would not fit a new one
for source in cpp/*.cpp; do
    case $source in cpp/bindings.cpp | cpp/ptb_patterns.cpp) continue ;; esac
    object=$build/$(basename "$source" .cpp).o
    if [ ! "$object" -nt "$newest" ]; then
        clang++ "${flags[@]}" -I"$build" -fsanitize=fuzzer-no-link -c "$source" -o "$object"
    fi
    kernels+=("$object")
done

for target in "${targets[@]}"; do
    clang++ "${flags[@]}" -fsanitize=fuzzer "fuzz/$target.cpp" "${kernels[@]}" -pthread \
        -o "$build/$target"
    corpus=$build/corpus-$target
    mkdir -p "$corpus"
    echo "== $target: $((seconds / ${#targets[@]})) s"
    "$build/$target" "$corpus" fuzz/seeds -max_len=512 -timeout=20 -rss_limit_mb=2048 \
        -max_total_time=$((seconds / ${#targets[@]})) -artifact_prefix="$build/finding-$target-" \
        -dict=fuzz/words.dict -print_final_stats=1 >"$build/$target.log" 2>&1 ||
        { grep -E 'ERROR|SUMMARY|runtime error|artifact' "$build/$target.log"; exit 1; }
    grep -E 'stat::number_of_executed_units' "$build/$target.log"
done
echo "No finding."
