#include "ptb_automaton.hpp"

#include "unicode.hpp"

namespace reelscore::ptb {
namespace {

using State = std::uint16_t;

struct Parts {  // start states for the two halves of a rule with `ahead`
    State pattern, ahead;
};

// kSymbols, kSymbolCount, kNext, kAccepts, kParts: see Tables in ptb_patterns.hpp.
#include "ptb_tables.inc"

constexpr State kDead = 0;
constexpr State kStart = 1;

// The state after the character at text[position], which is passed. The grammar works on
// UTF-16: beyond the basic plane (four bytes here) each half of a character is one step.
State step(State state, std::string_view text, std::size_t& position) {
    const auto byte = static_cast<unsigned char>(text[position]);
    std::uint8_t symbol;
    if (byte < 0x80) {
        symbol = kSymbols[byte];
        ++position;
    } else if (byte < 0xC0 || byte >= 0xF0) {  // at the second half, or the first
        symbol = kSymbols[0xD800];
        position += 2;
    } else {
        symbol = kSymbols[decode(text, position)];
    }
    return kNext[state * kSymbolCount + symbol];
}

}  // namespace

Match longest(std::string_view text, std::size_t begin, std::size_t end, Misses& misses) {
    // A scan notes where it is only this often, and only so far behind its last match: ordinary
    // text never gets there.
    constexpr std::size_t kStride = 64;
    Match match;
    State state = kStart;
    std::size_t last = begin;
    match.is_open = true;
    for (std::size_t p = begin; p < end;) {
        const std::size_t before = p;
        state = step(state, text, p);
        if (state == kDead) {
            match.is_open = false;
            match.is_told_by_next = before == match.end;
            break;
        }
        if (kAccepts[state] >= 0) {
            match.rule = kAccepts[state];
            match.end = last = p;
            misses.trail_.clear();
        } else if (p - last > kStride && p / kStride != before / kStride) {
            const std::uint64_t pair = (static_cast<std::uint64_t>(p) << 16) | state;
            if (misses.pairs_.count(pair) != 0) break;  // as open as the scan that noted it
            misses.trail_.push_back(pair);
        }
    }
    if (!misses.trail_.empty()) {
        misses.pairs_.insert(misses.trail_.begin(), misses.trail_.end());
        misses.trail_.clear();
    }
    match.has_ahead =
        match.rule >= 0 && kParts[static_cast<std::size_t>(match.rule)].pattern != kDead;
    return match;
}

bool is_lone_blank(char next) {
    constexpr State kBlank = kNext[kStart * kSymbolCount + kSymbols[' ']];
    static_assert(kAccepts[kBlank] >= 0 && kParts[kAccepts[kBlank]].pattern == kDead);
    const auto byte = static_cast<unsigned char>(next);
    return byte < 0x80 && kNext[kBlank * kSymbolCount + kSymbols[byte]] == kDead;
}

std::size_t token_end(std::string_view text, std::size_t begin, const Match& match) {
    const Parts parts = kParts[static_cast<std::size_t>(match.rule)];
    std::vector<std::size_t> ends;
    State state = parts.pattern;
    for (std::size_t p = begin; p < match.end && state != kDead;) {
        state = step(state, text, p);
        if (kAccepts[state] >= 0) ends.push_back(p);
    }
    for (; ends.size() > 1; ends.pop_back()) {
        std::size_t p = ends.back();
        for (state = parts.ahead; p < match.end && state != kDead;) state = step(state, text, p);
        if (p == match.end && kAccepts[state] >= 0) break;
    }
    return ends.back();  // the shortest needs no check: the whole did match
}

}  // namespace reelscore::ptb
