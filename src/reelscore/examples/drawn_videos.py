"""Videos drawn for the items of the examples: moving shapes."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need

_WIDTH, _HEIGHT, _RATE = 320, 180, 12
# Several threads would wait for one another longer than pictures so small take to encode.
_QUICK = {"deadline": "realtime", "cpu-used": "8", "b": "300k", "threads": "1"}
Picture = NDArray[np.uint8]


def draw_videos(folder: Path, items: Iterable[str], seconds: float = 2.0) -> None:
    """Draw a WebM video for each item, the same at every call.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     draw_videos(Path(name), ["clip01"], seconds=0.4)
    ...     Path(name, "clip01.webm").read_bytes()[:4].hex()
    '1a45dfa3'
    """
    av = need("av", "reelscore[web]", "Drawing the example's videos needs", "PyAV")
    for item in items:
        rng = random.Random(item)
        with av.open(str(folder / f"{item}.webm"), "w") as target:
            stream = target.add_stream("libvpx", rate=_RATE, options=_QUICK)
            stream.width, stream.height, stream.pix_fmt = _WIDTH, _HEIGHT, "yuv420p"
            scene = _Scene(rng)
            for k in range(round(seconds * _RATE)):
                frame = av.VideoFrame.from_ndarray(scene.picture(k / _RATE), format="rgb24")
                target.mux(stream.encode(frame))
            target.mux(stream.encode())


class _Scene:
    """A ground, a sky, and a ball and a box that cross the picture."""

    def __init__(self, rng: random.Random) -> None:
        self.sky, self.ground = _colour(rng, 150, 235), _colour(rng, 60, 140)
        self.ball, self.box = _colour(rng, 0, 255), _colour(rng, 0, 255)
        self.speed = rng.uniform(50, 110) * rng.choice([-1, 1])
        self.hops = rng.uniform(1.5, 4)
        self.rows, self.columns = np.mgrid[0:_HEIGHT, 0:_WIDTH]

    def picture(self, time: float) -> Picture:
        image = np.empty((_HEIGHT, _WIDTH, 3), dtype=np.uint8)
        horizon = _HEIGHT * 2 // 3
        image[:horizon], image[horizon:] = self.sky, self.ground
        x = (_WIDTH / 2 + self.speed * time) % _WIDTH
        y = horizon - 18 - 60 * abs(math.sin(self.hops * time))
        image[(self.columns - x) ** 2 + (self.rows - y) ** 2 < 18**2] = self.ball
        left = int((_WIDTH - self.speed * time * 0.6) % (_WIDTH - 50))
        image[horizon - 25 : horizon + 10, left : left + 40] = self.box
        return image


def _colour(rng: random.Random, low: int, high: int) -> list[int]:
    return [rng.randint(low, high) for _ in range(3)]
