"""Training, validation and test sets of a corpus: whole films, shares of clips, genres alike."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reelscore.corpus.pipeline import ASSEMBLE, StepWork
from reelscore.corpus.project import Film
from reelscore.corpus.project_files import CorpusSets, SetSize
from reelscore.corpus.release.duplicates import same_films
from reelscore.errors import DataError

SETS = ("training", "validation", "public-test", "blind-test")
"""The sets, in their order; clips from scripts are in the first alone."""

RATIOS = (0.778, 0.055, 0.085, 0.081)
"""Shares of the clips in each set, as in LSMDC 2015."""


@dataclass(frozen=True)
class FilmGroup:
    """Films that must stay together: one film, or versions of the same."""

    films: tuple[str, ...]
    genre: str = ""  # their genre
    narrated: int = 0  # clips from narration
    scripted: int = 0  # clips from scripts, which only the training set takes

    def clips(self, set_number: int) -> int:
        """Count the clips that a set gets with it."""
        return self.narrated + (self.scripted if set_number == 0 else 0)


def works(
    films: Iterable[Film], clips: Iterable[tuple[str, str]], same: Iterable[tuple[str, str]] = ()
) -> list[FilmGroup]:
    """Group films: those with the same title and year, or the same sound, are one work."""
    counts = Counter(clips)
    groups: dict[object, list[Film]] = {}
    for film in films:
        if counts[film.id, "ad"] or counts[film.id, "script"]:
            title = " ".join(film.title.casefold().split())
            groups.setdefault((title, film.year) if title else film.id, []).append(film)
    for pair in same:
        one, other = (
            next((key for key, group in groups.items() if film_id in {film.id for film in group}))
            for film_id in pair
        )
        if one != other:
            groups[one] += groups.pop(other)
    return [
        FilmGroup(
            tuple(film.id for film in group),
            next((film.genre for film in group if film.genre), ""),
            sum(counts[film.id, "ad"] for film in group),
            sum(counts[film.id, "script"] for film in group),
        )
        for group in groups.values()
    ]


def split(
    chosen_works: Sequence[FilmGroup],
    *,
    ratios: Sequence[float] = RATIOS,
    by_genre: bool = False,
    seed: int = 12345,
    fixed: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Divide films into sets.

    Each set gets about its share of the clips, and `by_genre` the genres of the whole; the seed
    decides between equally good divisions, and `fixed` says which films must be in which set.
    """
    total = sum(ratios)
    if len(ratios) != len(SETS) or min(ratios) < 0 or total <= 0:
        raise DataError(f"Give {len(SETS)} shares that are not negative: {', '.join(SETS)}.")
    state = _Division(
        chosen_works,
        [ratio / total for ratio in ratios],
        by_genre,
        _fixed_sets(chosen_works, fixed or {}),
    )
    state.improve(random.Random(seed))
    for number, target in enumerate(state.targets):
        if target > 0 and not state.totals[number]:
            raise DataError(
                f"The set {SETS[number]!r} would be empty: {len(chosen_works)} films with clips "
                "are too few for these ratios. Add films, or set its share to 0 with --ratios."
            )
    return {
        film: SETS[number]
        for work, number in zip(chosen_works, state.places, strict=True)
        for film in work.films
    }


def _fixed_sets(chosen_works: Sequence[FilmGroup], fixed: Mapping[str, str]) -> list[int | None]:
    known = {film for work in chosen_works for film in work.films}
    for film, name in fixed.items():
        if name not in SETS:
            raise DataError(f"{name!r} is not a set; the sets are {', '.join(SETS)}.")
        if film not in known:
            raise DataError(f"{film!r} is not a film with clips.")
    numbers: list[int | None] = []
    for work in chosen_works:
        wanted = {fixed[film] for film in work.films if film in fixed}
        if len(wanted) > 1:
            raise DataError(f"{' and '.join(work.films)} are the same film: fix them to one set.")
        number = SETS.index(wanted.pop()) if wanted else None
        if not work.narrated:  # scripts alone
            if number:
                raise DataError(
                    f"{work.films[0]!r} has only clips from a script: they are for training."
                )
            number = 0
        numbers.append(number)
    return numbers


@dataclass
class _Division:
    """Which work is in which set, and how far that is from the goal."""

    chosen_works: Sequence[FilmGroup]
    targets: Sequence[float]
    by_genre: bool
    fixed: Sequence[int | None]
    places: list[int] = field(default_factory=list)
    totals: list[int] = field(default_factory=lambda: [0] * len(SETS))
    genres: dict[str, list[int]] = field(default_factory=dict)

    def _put(self, index: int, number: int, sign: int = 1) -> None:
        work = self.chosen_works[index]
        count = sign * work.clips(number)
        self.totals[number] += count
        self.genres.setdefault(work.genre, [0] * len(SETS))[number] += count

    def _move(self, index: int, number: int) -> None:
        self._put(index, self.places[index], -1)
        self.places[index] = number
        self._put(index, number)

    def cost(self) -> float:
        """Sum the distances from the targets; a set without clips is worse than anything else."""
        every = sum(self.totals) or 1

        def apart(counts: Sequence[int], share: float = 1.0) -> float:
            pairs = zip(counts, self.targets, strict=True)
            return sum(abs(count / every - share * target) for count, target in pairs)

        pairs = zip(self.totals, self.targets, strict=True)
        cost = apart(self.totals) + 10.0 * sum(target > 0 and not count for count, target in pairs)
        if self.by_genre:
            for counts in self.genres.values():
                cost += apart(counts, sum(counts) / every)
        return cost

    def improve(self, chance: random.Random) -> None:
        """Place the largest first, then move and exchange as long as that helps."""
        order = list(range(len(self.chosen_works)))
        chance.shuffle(order)
        order.sort(key=lambda index: -self.chosen_works[index].clips(0))
        sets = [number for number, target in enumerate(self.targets) if target > 0]
        self.places = [0 if number is None else number for number in self.fixed]
        for index, number in enumerate(self.places):
            self._put(index, number)
        for index in order:
            if self.fixed[index] is None:
                self._best(index, sets)
        free = [index for index in order if self.fixed[index] is None]
        while self._round(free, sets):
            pass

    def _best(self, index: int, sets: Sequence[int]) -> bool:
        """Move a work to the set where the whole is best; tell whether that was another."""
        before, cost = self.places[index], self.cost()
        best = before
        for number in sets:
            self._move(index, number)
            if self.cost() < cost - 1e-12:
                best, cost = number, self.cost()
        self._move(index, best)
        return best != before

    def _round(self, free: Sequence[int], sets: Sequence[int]) -> bool:
        better = False
        for index in free:
            better |= self._best(index, sets)
        for position, one in enumerate(free):
            for other in free[position + 1 :]:
                first, second = self.places[one], self.places[other]
                if first == second:
                    continue
                cost = self.cost()
                self._move(one, second)
                self._move(other, first)
                if self.cost() < cost - 1e-12:
                    better = True
                else:
                    self._move(one, first)
                    self._move(other, second)
        return better


def corpus_sets(
    work: StepWork,
    *,
    ratios: Sequence[float] = RATIOS,
    by_genre: bool = False,
    fix: Mapping[str, str] | None = None,
    by_title: bool = False,
    seed: int = 12345,
) -> CorpusSets:
    """Divide the films of a project into sets, as `split` does, and their clips with them."""
    films, clips = work.project.films, work.project.needed(ASSEMBLE).clips
    with_clips = list(dict.fromkeys(clip.film for clip in clips))
    pairs, silent = ([], []) if by_title else same_films(work.project, with_clips, work.progress)
    groups = works(
        films.values(),
        [(clip.film, clip.origin) for clip in clips],
        [pair.films for pair in pairs],
    )
    sets = split(groups, ratios=ratios, by_genre=by_genre, seed=seed, fixed=fix)
    placed = {
        clip.id: sets[clip.film]
        for clip in clips
        if clip.origin == "ad" or sets[clip.film] == SETS[0]
    }
    of_clips, of_films = Counter(placed.values()), Counter(sets.values())
    return CorpusSets(
        films=sets,
        clips=placed,
        left_out=len(clips) - len(placed),
        same_sound=tuple(pairs),
        not_compared=tuple(silent),
        reached={
            name: SetSize(
                of_films[name],
                of_clips[name],
                share=round(of_clips[name] / len(placed), 4),
                target=round(ratio / sum(ratios), 4),
                genres=dict(Counter(films[each].genre for each in sets if sets[each] == name)),
            )
            for name, ratio in zip(SETS, ratios, strict=True)
        },
    )
