"""Random captions: few words, so that they share many, and what real text has between them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

VOCABULARY = ["a", "man", "dog", "the", "runs", "1 1/2".replace(" ", "\u00a0"), "😀", "é", "'s"]
BLANKS = [" ", " ", " ", "  ", "\t", "\u00a0", "\u2003", "\x1c"]

words = st.sampled_from(VOCABULARY)


@st.composite
def captions(draw: Any, max_words: int = 8) -> str:
    """Words with odd white space between, before and after them; perhaps none."""
    chosen = draw(st.lists(words, max_size=max_words))
    blanks = draw(
        st.lists(st.sampled_from(BLANKS), min_size=len(chosen) + 1, max_size=len(chosen) + 1)
    )
    outside = draw(st.booleans())
    text = "".join(word + blank for word, blank in zip(chosen, blanks, strict=False))
    return blanks[-1] + text if outside else text[:-1]


@st.composite
def corpora(
    draw: Any, max_items: int = 6, max_references: int = 4
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Candidates and references of the same items."""
    count = draw(st.integers(1, max_items))
    candidates = {f"v{k}": draw(captions()) for k in range(count)}
    references = {
        item: draw(st.lists(captions(), min_size=1, max_size=max_references)) for item in candidates
    }
    return candidates, references
