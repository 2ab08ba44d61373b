"""Named protocols: the choices behind the numbers that papers print.

``soda-paper``: both SODA papers treat the captions of the two annotators as one story, and
compare with the ActivityNet scorer as fixed in November 2017.

``soda-published``: SODA (c) as most papers print it. The tool behind those numbers, judged by its
outputs, matches the references in the order of the file, puts blanks in place of characters that
are not ASCII, and hands METEOR the two sentences in the other order.

``pdvc``: PDVC and the many systems that took over its evaluation score SODA (c) against each
annotator and average, and still run the ActivityNet scorer with ``abc123!@#``. Videos that have no
references are passed over in silence there, segments that end before they start overlap nothing.

``vid2seq``: Vid2Seq (scenic) averages over annotators too, but hands METEOR the two sentences in
the other order inside SODA, swaps the times of segments that end before they start, does not limit
the number of captions, and reports CIDEr and METEOR with the nonsense word of 2018.

``anet-challenge``: the server of the ActivityNet challenge: its scorer alone, as of November 2018.
"""

from __future__ import annotations

from reelscore.errors import UnknownNameError
from reelscore.stories.protocol import ACTIVITYNET, Protocol

_NO_LIMIT = 10**9

PRESETS: dict[str, Protocol] = {
    "soda-paper": Protocol(annotators="merge", variant="2017-fixed", metrics=("meteor",)),
    "soda-published": Protocol(
        scores=("soda_c",),
        meteor_order="swapped",
        reference_order="file",
        characters="ascii",
    ),
    "pdvc": Protocol(
        scores=("soda_c", ACTIVITYNET),
        annotators="mean",
        variant="2017-fixed",
        unknown="skip",
        reversed_segments="zero",
        negative="keep",
        empty="zero",
    ),
    "vid2seq": Protocol(
        scores=("soda_c", ACTIVITYNET),
        annotators="mean",
        meteor_order="swapped",
        metrics=("meteor", "cider"),
        max_captions=_NO_LIMIT,
        unknown="skip",
        reversed_segments="swap",
        negative="keep",
        empty="zero",
    ),
    "anet-challenge": Protocol(
        scores=(ACTIVITYNET,),
        unknown="skip",
        reversed_segments="zero",
        negative="keep",
        empty="zero",
    ),
}


def preset(name: str) -> Protocol:
    """Find a protocol by the name of its preset.

    >>> preset("vid2seq").meteor_order
    'swapped'
    """
    if name not in PRESETS:
        raise UnknownNameError.of("preset", name, PRESETS)
    return PRESETS[name]
