"""The data set of rendered clips: captions, tuples, truth and features, in a folder.

    OUT/rendered.json                       what it is: version, seed, size, doses
    OUT/{train,val,test}.json               the first reference of each clip
    OUT/references/{train,val,test}.json    all four
    OUT/features/{train,val,test}/NAME.npy  with NAME.ids.txt beside it
    OUT/tuples/{train,val,test}.jsonl       what a perfect parser finds in the first reference
    OUT/truth.jsonl                         what the clips show
    OUT/lists/{objects,places}.txt          class lists of an object detector and a scene classifier
    OUT/videos/ITEM.webm                    on request

No movie is in two sets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from reelscore._packages import need
from reelscore._progress import Progress
from reelscore.data.atomic_files import (
    check_own_folder,
    make_folder,
    opened_atomically,
    write_atomically,
)
from reelscore.errors import DataError, check_choice
from reelscore_studies.process_pool import process_pool
from reelscore_studies.rendered.features import NAMES, Extractor, FloatArray
from reelscore_studies.rendered.frames import HEIGHT, WIDTH, render
from reelscore_studies.rendered.grammar import Caption, captions_of
from reelscore_studies.rendered.scenes import (
    NAME,
    OBJECTS,
    PLACES,
    TITLE,
    Scene,
    draw_scene,
    label_numbers,
)

Size = Literal["small", "full", "tiny"]
SETS = ("train", "val", "test")
_MOVIES: dict[str, tuple[int, int, int]] = {
    "tiny": (6, 2, 2),  # for tests and for trying things out
    "small": (40, 10, 10),
    "full": (80, 20, 20),
}
_CLIPS = {"tiny": 30, "small": 100, "full": 500}
# Movies that only the networks see, and clips of each.
_OTHERS = {"tiny": (10, 20), "small": (30, 50), "full": (30, 50)}
_RECORD = "rendered.json"


@dataclass(frozen=True)
class RenderedClips:
    """Which rendered clips: everything they depend on.

    Attributes:
        size: ``small``: 60 movies of 100 clips; ``full``: 120 of 500; ``tiny``: 10 of 30.
        seed: Random seed.
        noise_labels: Meaningless labels that are added to the tuples.
        misaligned: Share of first references that describe the clip before.
        clips: Clips a movie, where not those of the size.

    >>> [len(movies) for movies in RenderedClips("small").movies().values()]
    [40, 10, 10]
    """

    size: Size = "small"
    seed: int = 0
    noise_labels: int = 0
    misaligned: float = 0.10
    clips: int | None = None

    def __post_init__(self) -> None:
        check_choice("size", self.size, get_args(Size))
        if not 0 <= self.misaligned <= 1 or self.noise_labels < 0 or self.seed < 0:
            raise DataError(
                f"misaligned={self.misaligned}, noise_labels={self.noise_labels}, "
                f"seed={self.seed}; expected a share from 0 to 1, and numbers from 0."
            )
        if self.clips is not None and not 2 <= self.clips <= 1000:
            raise DataError(f"{self.clips} clips a movie; expected 2 to 1,000.")

    def movies(self) -> dict[str, range]:
        """Return the numbers of the movies of each set."""
        ends = np.cumsum([0, *_MOVIES[self.size]])
        return {name: range(ends[k], ends[k + 1]) for k, name in enumerate(SETS)}

    def scenes(self, movies: range) -> list[Scene]:
        """Draw the scenes of some movies."""
        clips = self.clips or _CLIPS[self.size]
        return [draw_scene(self.seed, m, c) for m in movies for c in range(clips)]

    def record(self) -> dict[str, Any]:
        """Return what these clips are."""
        return {"name": NAME, "title": TITLE, **asdict(self)}


def write_clips(
    folder: str | os.PathLike[str],
    wanted: RenderedClips,
    *,
    features: bool = True,
    videos: Sequence[str] = (),
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Render clips into a folder; those that are there already are not rendered again.

    Args:
        folder: Where to write, created if needed.
        wanted: Which clips.
        features: Whether features are computed, which takes nearly all of the time.
        videos: Sets whose clips are written as videos too.
        jobs: Processes; the numbers are the same with any.
        progress: Called with how many movies are done, of how many.

    Returns:
        What is in ``rendered.json``.

    Raises:
        DataError: If other clips were rendered into the folder, or it holds other files.
    """
    home = Path(folder)
    check_own_folder(home, _RECORD)
    record = wanted.record()
    there = read_record(home)
    if there is not None:
        differing = [k for k, value in record.items() if there.get(k) != value]
        if differing:
            shown = "; ".join(f"{k}: {there.get(k)}, not {record[k]}" for k in differing)
            raise DataError(
                f"{home}: other clips were rendered here ({shown}). Name another folder, or "
                "remove this one."
            )
    make_folder(home)
    if there is None:
        write_atomically(home / _RECORD, json.dumps({**record, "finished": False}) + "\n")
    for name in videos:
        check_choice("set", name, SETS)
        _write_videos(home / "videos", wanted.seed, wanted.scenes(wanted.movies()[name]))
    if there is not None and (there.get("features", True) or not features):
        return there
    for place in ("references", "tuples", "lists", *(f"features/{name}" for name in SETS)):
        (home / place).mkdir(parents=True, exist_ok=True)
    items = _write_texts(home, wanted)
    if features:
        _write_features(home, wanted, jobs, progress)
    _write_list(home / "lists/objects.txt", sorted({n for ns in OBJECTS.values() for n in ns}))
    _write_list(home / "lists/places.txt", sorted({n for p in PLACES for n in p.names}))
    record = {**record, "items": items, "features": features}
    write_atomically(home / _RECORD, json.dumps(record, indent=1) + "\n")
    return record


def read_record(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Read what was rendered into a folder; nothing where no rendering was finished there."""
    path = Path(folder) / _RECORD
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}). Remove the folder.") from error
    return record if record.get("finished", True) else None


def tuple_lines(item: str, caption: Caption) -> Iterator[dict[str, Any]]:
    """Write a caption's clauses as a parser would.

    >>> from reelscore_studies.rendered.grammar import captions_of
    >>> list(tuple_lines("a", captions_of(0, 0, 0)[0]))
    [{'item': 'a', 'subject': 'someone', 'verb': 'pick up', 'object': 'pistol',
      'location': 'office', 'kind': 'text'}]
    """
    for clause in caption.clauses:
        yield {"item": item, **clause._asdict(), "kind": "text"}


def truth_line(scene: Scene) -> dict[str, Any]:
    """Return what a clip shows.

    >>> truth_line(draw_scene(0, 0, 0))
    {'item': 'rendered1_m000_c000', 'place': 'office', 'verb': 'take', 'object': 'gun',
     'who': 'woman'}
    """
    return {
        "item": scene.item,
        "place": scene.place.name,
        "verb": scene.action.name,
        "object": scene.object,
        "who": scene.who.name,
    }


def _write_texts(home: Path, wanted: RenderedClips) -> dict[str, int]:
    truth, items = [], {}
    for name, movies in wanted.movies().items():
        scenes = wanted.scenes(movies)
        first, every = {}, {}
        tuples: list[dict[str, Any]] = []
        for scene in scenes:
            captions = captions_of(wanted.seed, scene.movie, scene.clip, wanted.misaligned)
            first[scene.item] = captions[0].text
            every[scene.item] = [caption.text for caption in captions]
            tuples += tuple_lines(scene.item, captions[0])
            tuples += _noise_lines(wanted, scene)
            truth.append(truth_line(scene))
        items[name] = len(scenes)
        _write_lines(home / f"tuples/{name}.jsonl", tuples)
        _write_json(home / f"{name}.json", first)
        _write_json(home / f"references/{name}.json", every)
    _write_lines(home / "truth.jsonl", truth)
    return items


def _noise_lines(wanted: RenderedClips, scene: Scene) -> Iterator[dict[str, Any]]:
    """Assign meaningless labels to a clip: each to one to three of a hundred clips."""
    luck = label_numbers(wanted.seed, scene.movie, scene.clip).random(wanted.noise_labels)
    empty = {"subject": None, "object": None, "location": None, "kind": "text"}
    for k, value in enumerate(luck):
        if value < 0.01 + 0.02 * (k * 0.618 % 1):
            yield {"item": scene.item, **empty, "verb": f"noise{k:04d}"}


def _write_features(
    home: Path, wanted: RenderedClips, jobs: int, progress: Progress | None
) -> None:
    movies, clips = _OTHERS[wanted.size]
    extractor = Extractor.train(wanted.seed, movies=movies, clips=clips)
    work = [(name, movie) for name, movies in wanted.movies().items() for movie in movies]
    parts: dict[str, list[Mapping[str, FloatArray]]] = {name: [] for name in SETS}
    tasks = [(extractor, wanted, movie) for _, movie in work]
    with process_pool(jobs) as run:
        results = run(_movie_features, tasks)
        for done, ((name, _), rows) in enumerate(zip(work, results, strict=True), start=1):
            parts[name].append(rows)
            if progress is not None:
                progress(done, len(work))
    for name, own in wanted.movies().items():
        ids = "".join(f"{scene.item}\n" for scene in wanted.scenes(own))
        for feature in NAMES:
            place = home / "features" / name / feature
            with opened_atomically(place.with_suffix(".npy")) as file:
                np.save(file, np.concatenate([rows[feature] for rows in parts[name]]))
            write_atomically(place.with_suffix(".ids.txt"), ids)


def _movie_features(task: tuple[Extractor, RenderedClips, int]) -> dict[str, FloatArray]:
    extractor, wanted, movie = task
    return extractor(wanted.seed, wanted.scenes(range(movie, movie + 1)))


def _write_list(path: Path, names: Sequence[str]) -> None:
    write_atomically(path, "".join(f"{name}\n" for name in names))


def _write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    write_atomically(path, "".join(f"{json.dumps(line)}\n" for line in lines))


def _write_json(path: Path, content: object) -> None:
    write_atomically(path, json.dumps(content, indent=0) + "\n")


def _write_videos(folder: Path, seed: int, scenes: Sequence[Scene], *, zoom: int = 4) -> None:
    """Write clips as videos, six frames a second, each pixel four times as large."""
    av = need("av", "reelscore[files]", "Videos need")
    folder.mkdir(parents=True, exist_ok=True)
    for scene in scenes:
        path = folder / f"{scene.item}.webm"
        if path.exists():
            continue
        aside = path.with_name(f".{path.name}.tmp")
        with av.open(str(aside), "w", format="webm") as target:
            quick = {"cpu-used": "8", "deadline": "realtime", "threads": "1"}
            stream = target.add_stream("libvpx", rate=6, options=quick)
            stream.width, stream.height = WIDTH * zoom, HEIGHT * zoom
            stream.pix_fmt = "yuv420p"
            for picture in render(seed, scene).frames:
                large = picture.repeat(zoom, axis=0).repeat(zoom, axis=1)
                target.mux(stream.encode(av.VideoFrame.from_ndarray(large, format="rgb24")))
            target.mux(stream.encode())
        aside.replace(path)
