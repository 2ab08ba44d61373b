"""Pixels of rendered clips.

Pixels are added, multiplied and compared in single precision, never summed or raised, so that the
same numbers come out on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore_studies.rendered.actions import FRAMES, Motion
from reelscore_studies.rendered.scenes import (
    FloatArray,
    Person,
    Scene,
    draw_movie,
    noise_of,
    sprites,
)

HEIGHT, WIDTH = 36, 48
_MARGIN = 4  # pixels around the frame that the camera may drift into
_DRIFT = 0.25  # deviation of the camera's way from one frame to the next, in pixels
_HORIZON, _FLOOR = 24, 31  # rows: where the floor begins, and where feet stand
_FIXTURE = 0.6  # share of the fixtures of a place that are in the picture
_SKIN = np.array([0.85, 0.65, 0.52], dtype=np.float32)
_HAIR = np.array([0.20, 0.13, 0.08], dtype=np.float32)
_SPRITE = 9
_ROWS = np.arange(HEIGHT, dtype=np.float32)[None, :]
_COLUMNS = np.arange(WIDTH, dtype=np.float32)[None, :]

Uint8Array = NDArray[np.uint8]


class Clip(NamedTuple):
    """A rendered clip.

    Attributes:
        frames: Frames × rows × columns × colours.
        objects: Each object in it, with the row and column of its middle in each frame.
    """

    frames: Uint8Array
    objects: tuple[tuple[str, FloatArray], ...]


def render(seed: int, scene: Scene) -> Clip:
    """Draw the frames of a clip."""
    movie = draw_movie(seed, scene.movie)
    rng = noise_of(seed, scene.movie, scene.clip)
    steps = rng.normal(0, _DRIFT, (FRAMES, 2))
    camera: FloatArray = np.float32(np.clip(steps.cumsum(axis=0), 1 - _MARGIN, _MARGIN - 1))
    background = _background(scene)
    motion = scene.action.motion()
    objects = []
    for number, name in enumerate(scene.distractors):
        row = 20 + 9 * scene.layout[4 + number]
        column = 5 + 38 * scene.layout[6 + number]
        _paste(background, name, row + _MARGIN, column + _MARGIN, scene.colours[3 + number])
        objects.append((name, np.stack([row - camera[:, 0], column - camera[:, 1]], axis=1)))
    canvas = _filmed(background, camera)
    x: FloatArray = _ways(scene, motion) - camera[:, 1]
    floor = (_FLOOR + 3 * (scene.layout[1] - 0.5) - camera[:, 0]).astype(np.float32)
    if scene.other is not None:
        away = (x + scene.direction * motion.other).astype(np.float32)
        _draw_person(canvas, scene.other, Motion(), away, floor, -scene.direction, scene.colours[1])
    hand = _draw_person(canvas, scene.who, motion, x, floor, scene.direction, scene.colours[0])
    if scene.object is not None:
        track = _object_track(scene, motion, x, floor, hand)
        _draw_object(canvas, scene.object, track, scene.colours[2])
        objects.append((scene.object, track))
    canvas *= np.float32(movie.gain)
    canvas += movie.tint
    canvas += np.float32(movie.noise) * rng.standard_normal(canvas.shape, dtype=np.float32)
    np.clip(canvas, 0, 1, out=canvas)
    return Clip((canvas * np.float32(255) + np.float32(0.5)).astype(np.uint8), tuple(objects))


def _background(scene: Scene) -> FloatArray:
    """Draw the place, with a margin: wall with its texture, floor, fixtures."""
    place, layout = scene.place, scene.layout
    rows, columns = HEIGHT + 2 * _MARGIN, WIDTH + 2 * _MARGIN
    horizon = _HORIZON + _MARGIN + round(float(4 * (layout[0] - 0.5)))
    shift = round(float(8 * (layout[2] - 0.5)))
    picture = np.empty((rows, columns, 3), dtype=np.float32)
    picture[:horizon] = np.array(place.wall, dtype=np.float32)
    picture[horizon:] = np.array(place.floor, dtype=np.float32)
    picture[:horizon] *= _texture(place.texture, horizon, columns, shift)[..., None]
    picture[horizon:] *= _texture("floor", rows - horizon, columns, shift)[..., None]
    for number, (left, top, width, height, shade) in enumerate(place.fixtures):
        if layout[9 + number] > _FIXTURE:  # out of the picture
            continue
        left += round(float(24 * (layout[9 + number] / _FIXTURE - 0.5)))
        above = top + _MARGIN // 2
        box = picture[above : above + height, max(0, left) : max(0, left + width)]
        box[:] = np.array(place.wall if shade > 1 else place.floor, dtype=np.float32)
        box *= np.float32(shade)
        box[:1] *= np.float32(0.8)
        box[:, :1] *= np.float32(0.8)
    return picture


def _texture(name: str, rows: int, columns: int, shift: int) -> FloatArray:
    row = np.arange(rows)[:, None]
    column = np.arange(columns)[None, :] + shift
    dark = np.zeros((rows, columns), dtype=bool)
    if name == "columns":
        dark |= column % 7 == 0
    elif name == "checks":
        dark |= (column % 5 == 0) | (row % 5 == 0)
    elif name == "windows":
        dark |= (column % 8 < 4) & (row % 7 < 4)
    elif name == "rows":
        dark |= row % 6 < 2
    elif name == "speckle":
        dark |= (column * 7 + row * 13 + column * row) % 5 < 2
    elif name == "floor":
        dark |= (column + 2 * row) % 9 == 0
    return np.asarray(np.where(dark, 0.82, 1.0), dtype=np.float32)


def _filmed(background: FloatArray, camera: FloatArray) -> FloatArray:
    """Return the picture as the drifting camera sees it, between pixels by linear weights."""
    canvas = np.empty((FRAMES, HEIGHT, WIDTH, 3), dtype=np.float32)
    for frame, (down, right) in enumerate(camera + np.float32(_MARGIN)):
        top, left = int(down), int(right)
        a, b = np.float32(down - top), np.float32(right - left)
        part = background[top : top + HEIGHT + 1, left : left + WIDTH + 1]
        across = part[:, :-1] * (1 - b) + part[:, 1:] * b
        canvas[frame] = across[:-1] * (1 - a) + across[1:] * a
    return canvas


def _ways(scene: Scene, motion: Motion) -> FloatArray:
    """Return the person's column in each frame."""
    start = 48 * motion.start + 8 * (float(scene.layout[3]) - 0.5)
    column = start + motion.x
    if scene.direction < 0:
        column = WIDTH - 1 - column
    return np.asarray(column, dtype=np.float32)


def _draw_person(
    canvas: FloatArray,
    person: Person,
    motion: Motion,
    x: FloatArray,
    floor: FloatArray,
    direction: int,
    colour: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Draw a person; give the row and column of the hand."""
    height, width = person.height, person.width
    lying = motion.lying.astype(np.float32)
    feet = floor - motion.y.astype(np.float32)
    legs = (0.42 * height * motion.stretch * (1 - 0.8 * lying)).astype(np.float32)
    hip, shin = feet - legs, legs * np.float32(0.5)
    body = np.float32(0.19 * height)
    half_height = body * (1 - lying) + np.float32(width) * lying
    half_width = np.float32(width) * (1 - lying) + np.float32(1.4) * body * lying
    middle = hip - half_height
    trousers = colour * np.float32(0.5)
    stride = motion.stride.astype(np.float32)
    for side in (-1, 1):
        column = x + side * (np.float32(0.5 * width) + 0.5 * stride)
        _box(canvas, feet - shin, column, shin, np.float32(0.9), trousers)
    _box(canvas, middle, x, half_height, half_width, colour)
    if person.skirt:
        _box(canvas, hip + 1, x, np.float32(2.0), half_width + 1, colour * np.float32(0.8))
    radius = np.float32(0.12 * height)
    head_row = middle - half_height * (1 - lying) - radius + motion.head_y.astype(np.float32)
    head_column = x + direction * (motion.head_x.astype(np.float32) + lying * (half_width + radius))
    if person.hair:
        _box(canvas, head_row + 0.5, head_column, radius + 1, radius + np.float32(0.6), _HAIR)
    _disc(canvas, head_row - np.float32(0.6), head_column, radius, _HAIR)
    face = head_column + np.float32(0.5 * direction)
    _disc(canvas, head_row, face, radius - np.float32(0.3), _SKIN)
    angle = motion.arm * (np.pi / 2)
    length = 0.34 * height
    shoulder = middle - np.float32(0.6) * half_height
    hand = None
    for share in (0.5, 1.0):
        row = shoulder + (share * length * np.cos(angle)).astype(np.float32)
        column = x + direction * (0.8 * width + share * length * np.sin(angle)).astype(np.float32)
        _disc(canvas, row, column, np.float32(1.1), _SKIN)
        hand = row, column
    assert hand is not None
    return hand


def _object_track(
    scene: Scene,
    motion: Motion,
    x: FloatArray,
    floor: FloatArray,
    hand: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return the row and column of the object's middle: in the hand, on the floor, or flying."""
    held = motion.held.astype(np.float32)
    spot = x[0] + scene.direction * np.float32(8 + 4 * float(scene.layout[8]))
    row = held * hand[0] + (1 - held) * (floor - 4)
    column = held * hand[1] + (1 - held) * spot
    row = row - motion.object_y.astype(np.float32)
    column = column + scene.direction * motion.object_x.astype(np.float32)
    return np.stack([row, column], axis=1)


def _span(low: float, high: float, size: int) -> slice:
    return slice(max(0, int(np.floor(low))), max(0, min(size, int(np.ceil(high)) + 1)))


def _blend(part: FloatArray, mask: FloatArray, colour: FloatArray) -> None:
    part += mask[..., None] * (colour - part)


def _box(
    canvas: FloatArray,
    row: FloatArray,
    column: FloatArray,
    half_height: FloatArray | np.float32,
    half_width: FloatArray | np.float32,
    colour: FloatArray,
) -> None:
    """Fill a box in each frame, its edges smoothed."""
    tall = np.broadcast_to(half_height, row.shape) + np.float32(0.5)
    wide = np.broadcast_to(half_width, row.shape) + np.float32(0.5)
    rows = _span((row - tall).min(), (row + tall).max(), HEIGHT)
    columns = _span((column - wide).min(), (column + wide).max(), WIDTH)
    down = np.clip(tall[:, None] - np.abs(_ROWS[:, rows] - row[:, None]), 0, 1)
    right = np.clip(wide[:, None] - np.abs(_COLUMNS[:, columns] - column[:, None]), 0, 1)
    _blend(canvas[:, rows, columns], down[:, :, None] * right[:, None, :], colour)


def _disc(
    canvas: FloatArray,
    row: FloatArray,
    column: FloatArray,
    radius: np.float32,
    colour: FloatArray,
) -> None:
    """Fill a disc in each frame, its edge smoothed."""
    reach = float(radius) + 1
    rows = _span(row.min() - reach, row.max() + reach, HEIGHT)
    columns = _span(column.min() - reach, column.max() + reach, WIDTH)
    down = _ROWS[:, rows] - row[:, None]
    right = _COLUMNS[:, columns] - column[:, None]
    square = (down * down)[:, :, None] + (right * right)[:, None, :]
    edge = radius * radius
    mask = np.clip((edge - square) / (2 * radius) + np.float32(0.5), 0, 1)
    _blend(canvas[:, rows, columns], mask, colour)


def _paste(picture: FloatArray, name: str, row: float, column: float, colour: FloatArray) -> None:
    """Put an object's picture, between pixels by linear weights, around a point; in place."""
    top, left = row - _SPRITE / 2, column - _SPRITE / 2
    i, j = int(np.floor(top)), int(np.floor(left))
    a, b = np.float32(top - i), np.float32(left - j)
    shape = np.zeros((2, _SPRITE + 1, _SPRITE + 1), dtype=np.float32)
    mask, shade = sprites()[name]
    for layer, value in enumerate((mask, mask * shade)):
        shape[layer, :-1, :-1] += (1 - a) * (1 - b) * value
        shape[layer, 1:, :-1] += a * (1 - b) * value
        shape[layer, :-1, 1:] += (1 - a) * b * value
        shape[layer, 1:, 1:] += a * b * value
    rows = slice(max(0, i), max(0, min(picture.shape[0], i + _SPRITE + 1)))
    columns = slice(max(0, j), max(0, min(picture.shape[1], j + _SPRITE + 1)))
    part = picture[rows, columns]
    if part.size:
        cut = shape[:, rows.start - i : rows.stop - i, columns.start - j : columns.stop - j]
        part *= 1 - cut[0][..., None]
        part += cut[1][..., None] * colour


def _draw_object(canvas: FloatArray, name: str, track: FloatArray, colour: FloatArray) -> None:
    for frame, (row, column) in enumerate(track):
        _paste(canvas[frame], name, float(row), float(column), colour)
