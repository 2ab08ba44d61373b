// Compiles the rules of the PTB tokenizer into the tables its automaton runs on, as C++ source on
// standard output. Part of the build: what took a thirtieth of a second at every start is done
// once.
#include <cstdio>
#include <vector>

#include "../cpp/ptb_rules.hpp"

using namespace reelscore::ptb;

namespace {

template <typename Values, typename Spell>
void print(const char* declaration, const Values& values, Spell spell) {
    std::printf("constexpr %s[] = {", declaration);
    std::size_t column = 0;
    for (const auto& value : values) {
        std::fputs(column++ % 32 == 0 ? "\n" : "", stdout);
        spell(value);
    }
    std::puts("};");
}

}  // namespace

int main() {
    std::vector<RulePattern> patterns;
    for (std::size_t k = 0; k < kRuleCount; ++k) {
        patterns.push_back({kRules[k].pattern, kRules[k].ahead});
    }
    const Tables tables = compile(kDefinitions, kDefinitionCount, patterns.data(), patterns.size());
    const auto number = [](int value) { std::printf("%d,", value); };
    std::printf("constexpr std::size_t kSymbolCount = %zu;\n", tables.symbol_count);
    print("std::uint8_t kSymbols", tables.symbols, number);
    print("State kNext", tables.next, number);
    print("std::int16_t kAccepts", tables.accepts, number);
    print("Parts kParts", tables.parts,
          [](const Tables::Parts& parts) { std::printf("{%d, %d},", parts.pattern, parts.ahead); });
    return 0;
}
