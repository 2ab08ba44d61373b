"""What happens in a rendered clip: movies, places, people and objects, drawn at random.

Everything follows from the version of the generator, a seed, and the numbers of movie and clip.
The generator is frozen under its version: another one would get another name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from reelscore_studies.rendered.actions import ACTIONS, Action

NAME = "rendered1"
TITLE = "rendered clips (synthetic)"
_VERSION = 1
# Random numbers of one clip for different uses, so that one use never moves another.
_MOVIE, _SCENE, _NOISE, _CAPTIONS, _LABELS = range(5)

FloatArray = NDArray[np.float32]

_ZIPF = 0.7  # exponent of the frequencies of objects
_DIRICHLET = 0.6  # concentration of the places of a movie


@dataclass(frozen=True)
class Place:
    """A kind of place.

    Attributes:
        name: Its name, as a scene classifier would say it.
        names: Words for it, the commonest first.
        preposition: What stands before it: "in" the kitchen, "on" the street.
        wall: Colour of the upper part; two places share it, and with it they are confused.
        floor: Colour of the lower part.
        texture: The pattern of the upper part.
        fixtures: Boxes that belong there: column, row, width, height, and shade.
    """

    name: str
    names: tuple[str, ...]
    preposition: str
    wall: tuple[float, float, float]
    floor: tuple[float, float, float]
    texture: str
    fixtures: tuple[tuple[int, int, int, int, float], ...]


_WARM, _WOOD = (0.72, 0.62, 0.50), (0.45, 0.32, 0.22)
_TILES, _STONE = (0.70, 0.78, 0.80), (0.55, 0.58, 0.60)
_CITY, _ASPHALT = (0.55, 0.57, 0.63), (0.32, 0.33, 0.35)
_LEAVES, _GRASS = (0.30, 0.48, 0.28), (0.28, 0.38, 0.18)
_SKY, _SAND = (0.62, 0.76, 0.90), (0.78, 0.70, 0.50)
PLACES = (
    Place(
        *("bedroom", ("bedroom", "room"), "in", _WARM, _WOOD, "plain"),
        ((4, 24, 20, 8, 1.3), (34, 6, 10, 10, 1.5)),
    ),
    Place(
        *("office", ("office", "room"), "in", _WARM, _WOOD, "columns"),
        ((26, 22, 22, 3, 0.6), (28, 25, 2, 8, 0.6), (6, 4, 12, 16, 0.7)),
    ),
    Place(
        *("kitchen", ("kitchen",), "in", _TILES, _STONE, "checks"),
        ((0, 20, 24, 10, 0.8), (30, 4, 18, 7, 0.7)),
    ),
    Place(
        *("bathroom", ("bathroom",), "in", _TILES, _STONE, "checks"),
        ((28, 24, 18, 8, 1.3), (8, 8, 8, 10, 1.25)),
    ),
    Place(
        *("street", ("street", "road"), "on", _CITY, _ASPHALT, "windows"),
        ((0, 2, 16, 26, 0.7), (36, 6, 14, 22, 0.8)),
    ),
    Place(
        *("station", ("station", "platform"), "at", _CITY, _ASPHALT, "rows"),
        ((0, 12, 56, 3, 0.6), (12, 15, 2, 14, 0.5), (40, 15, 2, 14, 0.5)),
    ),
    Place(
        *("forest", ("forest", "woods"), "in", _LEAVES, _GRASS, "speckle"),
        ((6, 0, 4, 30, 0.45), (24, 0, 3, 30, 0.5), (42, 0, 4, 30, 0.45)),
    ),
    Place(
        *("garden", ("garden", "yard"), "in", _LEAVES, _GRASS, "speckle"),
        ((0, 22, 56, 6, 1.3), (34, 8, 12, 14, 1.2)),
    ),
    Place(*("beach", ("beach", "shore"), "on", _SKY, _SAND, "rows"), ((0, 20, 56, 8, 0.7),)),
    Place(
        *("desert", ("desert",), "in", _SKY, _SAND, "plain"),
        ((10, 22, 30, 6, 0.85), (42, 14, 3, 14, 0.5)),
    ),
)

# Words for each object, the commonest first; their order is that of how common they are.
OBJECTS: dict[str, tuple[str, ...]] = {
    "book": ("book",),
    "cup": ("cup", "mug"),
    "phone": ("phone",),
    "bag": ("bag", "sack"),
    "letter": ("letter", "note"),
    "gun": ("gun", "pistol"),
    "bottle": ("bottle",),
    "box": ("box", "crate"),
    "hat": ("hat", "cap"),
    "chair": ("chair",),
    "lamp": ("lamp",),
    "knife": ("knife", "blade"),
    "flower": ("flower",),
    "ball": ("ball",),
    "key": ("key",),
    "guitar": ("guitar",),
}


@dataclass(frozen=True)
class Person:
    """A kind of person: height in pixels, half the width of the body, and clothes.

    Attributes:
        name: What captions say.
        height: Height in pixels.
        width: Half the width of the body.
        skirt: Whether a skirt shows in the outline.
        hair: Whether the hair is long.
    """

    name: str
    height: float
    width: float
    skirt: bool
    hair: bool


PEOPLE = (
    Person("man", 21, 2.6, skirt=False, hair=False),
    Person("woman", 19, 2.0, skirt=True, hair=True),
    Person("boy", 14, 1.8, skirt=False, hair=False),
    Person("girl", 13, 1.6, skirt=True, hair=True),
)


@dataclass(frozen=True, eq=False)
class Movie:
    """What the clips of a movie share.

    Attributes:
        gain: Brightness.
        tint: What is added to each colour.
        noise: Standard deviation of a pixel's noise.
        places: How often the movie plays at each place.
        cast: How often each kind of person acts.
    """

    gain: float
    tint: FloatArray
    noise: float
    places: FloatArray
    cast: FloatArray


@dataclass(frozen=True, eq=False)
class Scene:
    """What one clip shows.

    Attributes:
        movie: Number of the movie.
        clip: Number of the clip in it.
        place: The place.
        action: What the person does.
        who: The person.
        other: The second person, where the action needs one.
        object: The object, or none.
        distractors: Objects that lie around and that no caption mentions.
        direction: 1: to the right, −1: to the left.
        colours: Colours of clothes, other person's clothes, object and distractors.
        layout: Twelve numbers in [0, 1) that place things.
    """

    movie: int
    clip: int
    place: Place
    action: Action
    who: Person
    other: Person | None
    object: str | None
    distractors: tuple[str, ...]
    direction: int
    colours: FloatArray
    layout: FloatArray

    @property
    def item(self) -> str:
        """The id of the clip."""
        return f"{NAME}_m{self.movie:03d}_c{self.clip:03d}"


def generator(seed: int, movie: int, clip: int, use: int) -> np.random.Generator:
    """Return the random numbers of one use in one clip: the same at any time, in any order."""
    return np.random.default_rng([_VERSION, seed, movie, clip, use])


@cache
def draw_movie(seed: int, movie: int) -> Movie:
    """Draw what the clips of a movie share.

    >>> draw_movie(0, 3).gain == draw_movie(0, 3).gain != draw_movie(1, 3).gain
    True
    """
    rng = generator(seed, movie, 0, _MOVIE)
    return Movie(
        gain=float(rng.uniform(0.6, 1.2)),
        tint=rng.normal(0, 0.06, 3).astype(np.float32),
        noise=float(rng.uniform(0.02, 0.06)),
        places=rng.dirichlet([_DIRICHLET] * len(PLACES)).astype(np.float32),
        cast=rng.dirichlet([1.0] * len(PEOPLE)).astype(np.float32),
    )


def draw_scene(seed: int, movie: int, clip: int) -> Scene:
    """Draw what one clip shows."""
    shared = draw_movie(seed, movie)
    rng = generator(seed, movie, clip, _SCENE)
    place = PLACES[_pick(rng, shared.places)]
    action = ACTIONS[_pick(rng, [each.weight for each in ACTIONS])]
    who, other = PEOPLE[_pick(rng, shared.cast)], PEOPLE[_pick(rng, shared.cast)]
    names, shares = list(OBJECTS), [(k + 1) ** -_ZIPF for k in range(len(OBJECTS))]
    thing = names[_pick(rng, shares)]
    around = [names[_pick(rng, shares)] for _ in range(int(rng.integers(3)))]
    return Scene(
        *(movie, clip, place, action, who),
        other if action.partner else None,
        thing if action.object != "none" else None,
        tuple(name for name in around if name != thing or action.object == "none"),
        1 if rng.random() < 0.5 else -1,
        rng.uniform(0.1, 0.95, (6, 3)).astype(np.float32),
        rng.random(12).astype(np.float32),
    )


def noise_of(seed: int, movie: int, clip: int) -> np.random.Generator:
    """Return the random numbers of a clip's camera and pixels."""
    return generator(seed, movie, clip, _NOISE)


def caption_numbers(seed: int, movie: int, clip: int, reference: int) -> np.random.Generator:
    """Return the random numbers of one reference of a clip."""
    return generator(seed, movie, clip, _CAPTIONS + 8 * reference)


def label_numbers(seed: int, movie: int, clip: int) -> np.random.Generator:
    """Return the random numbers of a clip's meaningless labels."""
    return generator(seed, movie, clip, _LABELS)


def _pick(rng: np.random.Generator, weights: object) -> int:
    shares = np.cumsum(np.asarray(weights, dtype=np.float64))
    return int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))


@cache
def sprites() -> dict[str, NDArray[np.float32]]:
    """Return the picture of each object: 9 × 9, two layers: where it is, and how bright.

    >>> sprites()["ball"].shape
    (2, 9, 9)
    """
    text = (files(__package__) / "sprites.txt").read_text(encoding="utf-8")
    pictures = {}
    for block in text.split("\n\n")[1:]:
        name, *rows = block.split()
        cells = np.array([list(row) for row in rows])
        pictures[name] = np.stack([cells != ".", np.where(cells == "+", 0.55, 1.0)]).astype(
            np.float32
        )
    return pictures
