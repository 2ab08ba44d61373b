"""Writes cpp/unicode_lower.inc: lower-case mappings and what the final-sigma rule needs.

Run with the oldest supported Python: python tools/make_unicode_lower.py cpp/unicode_lower.inc
Everything is derived from str.lower() itself, so the C++ code agrees with the Python that ran this.
"""

import sys
import unicodedata
from pathlib import Path

SIGMA, FINAL_SIGMA = "\u03a3", "\u03c2"
CODE_POINTS = [c for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF]


def mappings():
    """(code point, lower-case code point) for all but ASCII and U+0130, the one-to-two case."""
    pairs = []
    for code in CODE_POINTS:
        lower = chr(code).lower()
        if code < 0x80 or lower == chr(code):
            continue
        if len(lower) != 1:
            assert (code, lower) == (0x130, "i\u0307"), hex(code)
            continue
        pairs.append((code, ord(lower)))
    return pairs


def mapping_runs(pairs):
    """Runs (first, last, step, difference): every step-th code point moves by the difference."""
    runs = []
    for code, lower in pairs:
        difference = lower - code
        if runs and runs[-1][3] == difference:
            first, last, step, _ = runs[-1]
            gap = code - last
            if gap in (1, 2) and (first == last or gap == step):
                runs[-1] = (first, code, gap, difference)
                continue
        runs.append((code, code, 1, difference))
    return runs


def ranges(codes):
    spans = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return spans


def is_cased(code):
    """Cased and not skipped by the rule: a sigma right after it is final."""
    return (chr(code) + SIGMA).lower().endswith(FINAL_SIGMA)


def is_ignorable(code):
    """Skipped by the rule: a cased letter before it still makes a sigma after it final."""
    return not is_cased(code) and ("A" + chr(code) + SIGMA).lower().endswith(FINAL_SIGMA)


def rows(entries):
    cells = ["{" + ", ".join(hex(v) if v >= 0 else str(v) for v in e) + "}," for e in entries]
    lines, line = [], "   "
    for cell in cells:
        if len(line) + 1 + len(cell) > 100:
            lines.append(line)
            line = "   "
        line += " " + cell
    return "\n".join([*lines, line])


def main():
    runs = mapping_runs(mappings())
    cased = ranges(c for c in CODE_POINTS if is_cased(c))
    ignorable = ranges(c for c in CODE_POINTS if is_ignorable(c))
    version = unicodedata.unidata_version
    text = f"""// Made by tools/make_unicode_lower.py (Unicode {version}); do not edit.
// clang-format off
constexpr LowerRun kLowerRuns[] = {{  // first, last, step, difference
{rows(runs)}
}};
constexpr CodeRange kCased[] = {{
{rows(cased)}
}};
constexpr CodeRange kCaseIgnorable[] = {{
{rows(ignorable)}
}};
// clang-format on
"""
    Path(sys.argv[1]).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
