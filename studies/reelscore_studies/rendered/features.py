"""Features of rendered clips, all from pixels: stand-ins for the four that the paper uses.

- ``idt``: histograms of motion, in place of dense trajectories: 153 numbers;
- ``lsda``: a patch network's certainty of each object, in place of an object detector: 16;
- ``places``: a scene network's certainty of each place, in place of a scene classifier: 10;
- ``hybrid``: histograms of colour and of gradients of the mean frame: 136.

The two small networks learn from movies that are in no part of the data set. Their weights depend
on the linear algebra of the machine in the last digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelscore_studies.rendered.frames import HEIGHT, WIDTH, Clip, Uint8Array, render
from reelscore_studies.rendered.scenes import OBJECTS, PLACES, Scene, draw_scene

FloatArray = NDArray[np.float32]

NAMES = ("idt", "lsda", "places", "hybrid")
_OTHER_MOVIES = 100_000  # number of the first movie that only the networks see
_PATCH, _STRIDE = 15, 4
_CELL = 4
_STILL, _FAST = 0.15, 0.7  # pixels a frame below which a cell is still, and above which it is fast
_BLOCK = 50  # clips whose features are computed together


@dataclass(frozen=True)
class Network:
    """One hidden layer and a softmax.

    Attributes:
        first: Weights of the hidden layer, with its bias in the last row.
        second: Weights of the output, with its bias in the last row.
        mean: Mean of each input in training.
        scale: Deviation of each input in training.
    """

    first: FloatArray
    second: FloatArray
    mean: FloatArray
    scale: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return the probability of each class for each row."""
        hidden = self.hidden(rows)
        return _softmax(hidden @ self.second[:-1] + self.second[-1])

    def hidden(self, rows: FloatArray) -> FloatArray:
        """Return the hidden units."""
        hidden = ((rows - self.mean) / self.scale) @ self.first[:-1]
        hidden += self.first[-1]
        return np.maximum(hidden, 0, out=hidden)


def train_network(
    rows: FloatArray,
    classes: NDArray[np.int64],
    count: int,
    *,
    units: int = 64,
    epochs: int = 8,
    seed: int = 0,
) -> Network:
    """Train a network with Adam.

    >>> rows = np.float32([[0, 1], [1, 0]] * 64)
    >>> network = train_network(rows, np.array([0, 1] * 64), 2, epochs=50)
    >>> network(rows[:2]).argmax(axis=1).tolist()
    [0, 1]
    """
    rng = np.random.default_rng([seed, len(rows), count])
    wide = rows.shape[1]
    weights = [
        np.vstack([rng.normal(0, np.sqrt(2 / n), (n, m)), np.zeros((1, m))]).astype(np.float32)
        for n, m in ((wide, units), (units, count))
    ]
    network = Network(weights[0], weights[1], rows.mean(axis=0), rows.std(axis=0) + 1e-3)
    moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
    size, step = 128, 0
    for _ in range(epochs):
        order = rng.permutation(len(rows))
        for begin in range(0, len(order), size):
            part, step = order[begin : begin + size], step + 1
            own = rows[part]
            hidden = network.hidden(own)
            error = _softmax(hidden @ weights[1][:-1] + weights[1][-1])
            error[np.arange(len(part)), classes[part]] -= 1
            error /= len(part)
            back = (error @ weights[1][:-1].T) * (hidden > 0)
            inputs = (own - network.mean) / network.scale
            slopes = [
                np.vstack([inputs.T @ back, back.sum(axis=0)]),
                np.vstack([hidden.T @ error, error.sum(axis=0)]),
            ]
            for weight, slope, (mean, square) in zip(weights, slopes, moments, strict=True):
                mean += np.float32(0.1) * (slope - mean)
                square += np.float32(0.001) * (slope * slope - square)
                size_of_step = 2e-3 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                weight -= np.float32(size_of_step) * mean / (np.sqrt(square) + np.float32(1e-8))
    return network


@dataclass(frozen=True)
class Extractor:
    """Computes the features of clips; holds the two networks."""

    patches: Network
    scenes: Network

    @classmethod
    def train(cls, seed: int, *, movies: int = 30, clips: int = 50) -> Extractor:
        """Train the networks on movies of their own."""
        rng = np.random.default_rng([seed, movies, clips])
        names = list(OBJECTS)
        patches: list[FloatArray] = []
        kinds: list[int] = []
        pictures, places = [], []
        for movie in range(_OTHER_MOVIES, _OTHER_MOVIES + movies):
            for number in range(clips):
                scene = draw_scene(seed, movie, number)
                clip = render(seed, scene)
                chosen = rng.choice(len(clip.frames), 2, replace=False)
                pictures.append(_small(clip.frames[chosen]))
                places += [PLACES.index(scene.place)] * 2
                for patch, name in _patches(clip, rng):
                    patches.append(patch)
                    kinds.append(names.index(name) if name else len(names))
        return cls(
            train_network(
                np.stack(patches), np.array(kinds), len(names) + 1, units=128, epochs=12, seed=seed
            ),
            train_network(
                np.concatenate(pictures), np.array(places), len(PLACES), epochs=20, seed=seed
            ),
        )

    def __call__(self, seed: int, scenes: Sequence[Scene]) -> dict[str, FloatArray]:
        """Render clips and compute their features, by name: a row for each clip."""
        parts: dict[str, list[FloatArray]] = {name: [] for name in NAMES}
        for begin in range(0, len(scenes), _BLOCK):
            own = scenes[begin : begin + _BLOCK]
            frames = np.stack([render(seed, scene).frames for scene in own])
            parts["idt"].append(motion_histograms(frames))
            parts["lsda"].append(self._objects(frames))
            parts["places"].append(self._places(frames))
            parts["hybrid"].append(picture_histograms(frames))
        return {name: np.concatenate(rows) for name, rows in parts.items()}

    def _objects(self, frames: Uint8Array) -> FloatArray:
        """Every second frame: the highest certainty within it, then the mean over frames."""
        seen = frames[:, ::2]
        windows = np.lib.stride_tricks.sliding_window_view(seen, (_PATCH, _PATCH), axis=(2, 3))
        windows = windows[:, :, 1::_STRIDE, 1::_STRIDE].transpose(0, 1, 2, 3, 5, 6, 4)
        chances = self.patches(_shapes(windows.reshape(-1, _PATCH, _PATCH, 3)))[:, :-1]
        by_frame = chances.reshape(*seen.shape[:2], -1, len(OBJECTS)).max(axis=2)
        return np.asarray(by_frame.mean(axis=1), dtype=np.float32)

    def _places(self, frames: Uint8Array) -> FloatArray:
        chances = self.scenes(_small(frames.reshape(-1, *frames.shape[2:])))
        return np.asarray(chances.reshape(*frames.shape[:2], -1).mean(axis=1), dtype=np.float32)


def motion_histograms(frames: Uint8Array) -> FloatArray:
    """Count how cells of 4 × 4 pixels move: direction, speed, height in the frame, and time."""
    grey = _scaled(frames).mean(axis=-1)
    middle = (grey[:, 1:] + grey[:, :-1]) / 2
    down, right = np.gradient(middle, axis=(2, 3))
    time = grey[:, 1:] - grey[:, :-1]

    def cells(values: FloatArray) -> FloatArray:
        shape = (*values.shape[:2], HEIGHT // _CELL, _CELL, WIDTH // _CELL, _CELL)
        return np.asarray(values.reshape(shape).sum(axis=(3, 5)))

    # Least squares: the way that explains best how the brightness of a cell's pixels changed.
    a, b, c = cells(right * right), cells(right * down), cells(down * down)
    p, q = -cells(right * time), -cells(down * time)
    blur = np.float32(2e-2)  # cells without contrast are taken as still
    a, c = a + blur, c + blur
    size = a * c - b * b
    x, y = (c * p - b * q) / size, (a * q - b * p) / size
    speed = np.hypot(x, y)
    octant = np.floor((np.arctan2(y, x) + np.pi) / (np.pi / 4)).astype(np.int64) % 8
    kind = np.where(speed < _STILL, 16, octant + 8 * (speed > _FAST))
    count = len(frames)
    steps, rows = kind.shape[1:3]
    third = np.arange(steps) * 3 // steps
    band = np.arange(rows) * 3 // rows
    place = (third[:, None] * 3 + band[None, :])[None, :, :, None] * 17 + kind
    place = place + (np.arange(count) * 153)[:, None, None, None]
    table = np.bincount(place.ravel(), minlength=153 * count).reshape(count, 153)
    return np.asarray(table / kind[0].size, dtype=np.float32)


def picture_histograms(frames: Uint8Array) -> FloatArray:
    """Count colours (4 × 4 × 4) and directions of gradients (8, in 3 × 3 parts) of mean frames.

    >>> picture_histograms(np.zeros((2, 12, 36, 48, 3), dtype=np.uint8)).shape
    (2, 136)
    """
    mean = _scaled(frames).mean(axis=1)
    count = len(frames)
    colour = np.minimum((mean * 4).astype(np.int64), 3)
    bins = colour[..., 0] * 16 + colour[..., 1] * 4 + colour[..., 2]
    bins = bins + (np.arange(count) * 64)[:, None, None]
    colours = np.bincount(bins.ravel(), minlength=64 * count).reshape(count, 64)
    down, right = np.gradient(mean.mean(axis=-1), axis=(1, 2))
    octant = np.floor((np.arctan2(down, right) + np.pi) / (np.pi / 4)).astype(np.int64) % 8
    part = (np.arange(HEIGHT) * 3 // HEIGHT)[:, None] * 3 + np.arange(WIDTH) * 3 // WIDTH
    place = part[None] * 8 + octant + (np.arange(count) * 72)[:, None, None]
    strength = np.hypot(down, right)
    edges = np.bincount(place.ravel(), strength.ravel(), 72 * count).reshape(count, 72)
    edges = edges / np.maximum(edges.sum(axis=1, keepdims=True), 1e-9)
    return np.hstack([colours / (HEIGHT * WIDTH), edges]).astype(np.float32)


def _patches(clip: Clip, rng: np.random.Generator) -> list[tuple[FloatArray, str | None]]:
    """Cut patches at the objects of a clip, and some where there is none."""
    half = _PATCH // 2
    cut: list[tuple[FloatArray, str | None]] = []
    spots: list[tuple[float, float, int, str | None]] = []
    for name, track in clip.objects:
        for frame in rng.choice(len(track), 6, replace=False):
            row, column = track[frame] + rng.uniform(-2, 2, 2)
            spots.append((row, column, int(frame), name))
    for _ in range(6):
        frame = int(rng.integers(len(clip.frames)))
        row, column = rng.uniform((half, half), (HEIGHT - half, WIDTH - half))
        near = [np.abs(track[frame] - (row, column)).max() for _, track in clip.objects]
        if min(near, default=99.0) > half:
            spots.append((row, column, frame, None))
    for row, column, frame, kind in spots:
        top, left = int(row) - half, int(column) - half
        if 0 <= top <= HEIGHT - _PATCH and 0 <= left <= WIDTH - _PATCH:
            patch = clip.frames[frame, top : top + _PATCH, left : left + _PATCH]
            cut.append((_shapes(patch[None])[0], kind))
    return cut


def _shapes(patches: Uint8Array) -> FloatArray:
    """Return how far each pixel is from the colour at the patch's edge: objects have any colour."""
    values = patches.astype(np.float32)
    edge = (values[:, 0] + values[:, -1] + values[:, :, 0] + values[:, :, -1]).mean(axis=1) / 4
    values -= edge[:, None, None, :]
    np.abs(values, out=values)
    far = (values[..., 0] + values[..., 1] + values[..., 2]).reshape(len(patches), -1)
    return np.asarray(far / (far.max(axis=1, keepdims=True) + np.float32(30)))


def _small(frames: Uint8Array) -> FloatArray:
    """Make frames a third as large, one row of numbers each."""
    shape = (len(frames), HEIGHT // 3, 3, WIDTH // 3, 3, 3)
    return np.asarray(
        _scaled(frames).reshape(shape).mean(axis=(2, 4)).reshape(len(frames), -1), np.float32
    )


def _scaled(pixels: NDArray[np.uint8]) -> FloatArray:
    return np.asarray(pixels * np.float32(1 / 255), dtype=np.float32)


def _softmax(logits: FloatArray) -> FloatArray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)
