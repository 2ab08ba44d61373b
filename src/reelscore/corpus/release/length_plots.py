"""A figure of a corpus: how long its clips and sentences are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from reelscore.corpus.release.clip_files import ExportedClip
from reelscore.report.plots.style import COLUMN_WIDTH, PALETTE, figure, save

_LONGEST = (20.0, 40.0)  # seconds and words: what is longer counts to the last bar


def draw_lengths(groups: Mapping[str, Sequence[ExportedClip]], path: str | Path) -> None:
    """Draw the share of clips by seconds, and of sentences by words, a line for each group.

    >>> import tempfile
    >>> clip = ExportedClip("f_1", "f", 4.0, 5.0, 3.5, 5.5, ("Someone nods.",))
    >>> draw_lengths({"narration": [clip]}, Path(tempfile.mkdtemp(), "lengths.svg"))
    """
    with figure(1, 2, width=2 * COLUMN_WIDTH, height=2.2) as (drawing, panels):
        for k, (name, clips) in enumerate(groups.items()):
            lengths_known = (clip.expanded_end - clip.expanded_start for clip in clips)
            seconds = [length for length in lengths_known if length == length]  # NaN: not known
            words = [len(text.split()) for clip in clips for text in clip.sentences]
            for panel, lengths, longest, step in (
                (panels[0], seconds, _LONGEST[0], 1.0),
                (panels[1], words, _LONGEST[1], 2.0),
            ):
                edges = np.arange(0.0, longest + 2 * step, step)
                counts, _ = np.histogram(np.minimum(lengths, longest), edges)
                shares = counts / max(1, len(lengths))
                panel.stairs(shares, edges, color=PALETTE[k % len(PALETTE)], label=name)
        for panel, label, longest in zip(panels, ("seconds", "words"), _LONGEST, strict=True):
            panel.set_xlabel(f"{label} ({longest:.0f}: or more)")
            panel.set_ylim(bottom=0.0)
        panels[0].set_ylabel("share of clips")
        panels[1].set_ylabel("share of sentences")
        panels[1].legend(loc="upper right")
        save(drawing, path)
