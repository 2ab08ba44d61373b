"""HITs of rankings and of comparisons: several captions of a video, side by side."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from reelscore.campaigns.hits.distribution import Captions, Hand, deal, new_names
from reelscore.campaigns.hits.tasks import Hit, HitPlan, Shown, Task
from reelscore.errors import DataError, check_choice


def build_ranking_hits(
    systems: Mapping[str, Captions],
    *,
    seed: int,
    per_hit: int = 10,
    hits: int | None = None,
    shown: Mapping[tuple[str, str], int] | None = None,
) -> HitPlan:
    """Build HITs of rankings: every task shows the captions of all systems, in random order.

    Args:
        systems: Captions by system and item; items that a system lacks are left out, with a note.
        seed: Seed of all random choices. The order of systems and items does not matter.
        per_hit: How many videos a HIT has.
        hits: How many HITs; by default as many as show every video.
        shown: How often captions were shown before, by system and item; videos shown least come
            first.

    Raises:
        DataError: If there are fewer than two systems, or too few videos for a HIT.

    >>> from reelscore.examples import clips
    >>> plan = build_ranking_hits(clips()[0], seed=1, per_hit=5)
    >>> [shown.system for shown in plan.hits[0].tasks[0].shown]
    ['strong', 'weak', 'human', 'broken']
    """
    names = sorted(systems)
    if len(names) < 2:
        raise DataError(f"A ranking needs at least two systems; there are {len(names)}.")
    shared = sorted(set.intersection(*(set(systems[name]) for name in names)))
    total = len({item for captions in systems.values() for item in captions})
    notes = []
    if len(shared) < total:
        notes.append(f"{total - len(shared)} of {total} items lack a caption of some system.")
    groups = [(item, tuple(Shown(name, systems[name][item]) for name in names)) for item in shared]
    built = _build({"all": groups}, per_hit, hits, seed, shown=shown)
    notes += _counts(len(groups), len(built) * per_hit, "videos")
    signature = f"ranking hits|per_hit:{per_hit}|hits:{len(built)}|seed:{seed}"
    return HitPlan(built, signature, tuple(notes))


def build_pair_hits(
    systems: Mapping[str, Captions],
    *,
    seed: int,
    against: str | None = None,
    per_hit: int = 20,
    tests: Sequence[Task] = (),
    tests_per_hit: int = 2,
    hits: int | None = None,
    shown: Mapping[tuple[str, str], int] | None = None,
) -> HitPlan:
    """Build HITs of comparisons: every task shows two captions of a video, sides at random.

    All pairs of captions are shown equally often, and a video once in a HIT as long as there are
    others. Pairs of the same caption are left out, with a note.

    Args:
        systems: Captions by system and item; references are one of the systems.
        seed: Seed of all random choices. The order of systems and items does not matter.
        against: The one system to compare all others with, such as the references; ``None``
            compares all systems with each other.
        per_hit: How many comparisons a HIT has, test questions not counted.
        tests: Questions whose answer is known: tasks with two captions and `expected`, the score
            of the second over the first. Sides are changed at random, with the answer.
        tests_per_hit: How many of them each HIT has, in turns; all, where there are fewer.
        hits: How many HITs; by default as many as show every pair.
        shown: How often captions were shown before, by system and item; pairs of those shown
            least come first.

    Raises:
        DataError: If there are fewer than two systems, too few pairs for a HIT, or a test
            question has no answer.

    >>> systems = {"mine": {"v1": "a dog", "v2": "a cat"}, "truth": {"v1": "a wolf", "v2": "a cat"}}
    >>> plan = build_pair_hits(systems, against="truth", per_hit=1, seed=4)
    >>> [shown.system for shown in plan.hits[0].tasks[0].shown]
    ['mine', 'truth']
    >>> plan.notes
    ('1 pairs show the same caption twice and are left out.',)
    """
    names = sorted(systems)
    if against is not None:
        check_choice("system", against, names)
    pairs = [pair for pair in combinations(names, 2) if against is None or against in pair]
    if not pairs:
        raise DataError(f"A comparison needs at least two systems; there are {len(names)}.")
    for test in tests:
        if test.expected is None or len(test.shown) != 2:
            raise DataError(
                f"Test question {test.id!r} of item {test.item!r}: expected two captions and the "
                "score that is right."
            )
    groups: dict[str, list[tuple[str, tuple[Shown, ...]]]] = {}
    same = 0
    for one, other in pairs:
        for item in sorted(set(systems[one]) & set(systems[other])):
            pair = (Shown(one, systems[one][item]), Shown(other, systems[other][item]))
            if pair[0].text == pair[1].text:
                same += 1
            else:
                groups.setdefault(f"{one}\n{other}", []).append((item, pair))
    notes = [f"{same} pairs show the same caption twice and are left out."] if same else []
    asked = min(tests_per_hit, len(tests))
    built = _build(groups, per_hit, hits, seed, tests, asked, shown)
    notes += _counts(sum(map(len, groups.values())), len(built) * per_hit, "pairs")
    signature = (
        f"pair hits|against:{against or 'all'}|per_hit:{per_hit}|tests:{asked}|hits:{len(built)}"
        f"|seed:{seed}"
    )
    return HitPlan(built, signature, tuple(notes))


def _build(
    groups: Mapping[str, Sequence[tuple[str, tuple[Shown, ...]]]],
    per_hit: int,
    hits: int | None,
    seed: int,
    tests: Sequence[Task] = (),
    tests_per_hit: int = 0,
    shown: Mapping[tuple[str, str], int] | None = None,
) -> tuple[Hit, ...]:
    """Deal groups of captions out, mix test questions in, shuffle tasks and sides."""
    there = sum(map(len, groups.values()))
    if not 1 <= per_hit <= there:
        raise DataError(
            f"A HIT of {per_hit} tasks, but there are {there} to compare; name a number up to "
            f"{there} with --per-hit. Pairs of equal captions are left out."
        )
    count = -(-there // per_hit) if hits is None else hits
    if count < 1:
        raise DataError(f"{count} HITs; expected at least 1.")
    rng, names = random.Random(f"hits {seed}"), new_names(random.Random(f"names {seed}"))
    # What may not come twice into a HIT is the same group, not one of its captions.
    decks = {name: {item: (name,) for item, _ in group} for name, group in groups.items()}
    questions = {f"{k:06d}": ("",) for k in range(len(tests))}
    texts = {(name, item): group for name, pairs in groups.items() for item, group in pairs}
    before = {
        card: min((shown or {}).get((each.system, card[1]), 0) for each in group)
        for card, group in texts.items()
    }
    hands, asked = ([Hand() for _ in range(count)] for _ in range(2))
    deal(decks, hands, per_hit, rng, before)
    deal({"tests": questions}, asked, tests_per_hit, rng)
    built = []
    for hand, questioned in zip(hands, asked, strict=True):
        tasks = [Task("", card.item, texts[card.deck, card.item]) for card in hand.cards]
        tasks += [tests[int(card.item)] for card in questioned.cards]
        mixed = rng.sample(tasks, len(tasks))
        built.append(Hit(next(names), tuple(_turned(task, names, rng) for task in mixed)))
    return tuple(built)


def _counts(there: int, tasks: int, what: str) -> Iterator[str]:
    if tasks > there:
        yield f"There are only {there} {what} for {tasks} tasks: some are shown again."
    elif tasks < there:
        yield f"{there - tasks} of {there} {what} are not shown."


def _turned(task: Task, names: Iterator[str], rng: random.Random) -> Task:
    """Shuffle the captions of a task; the answer to a test question turns with them."""
    order = rng.sample(range(len(task.shown)), len(task.shown))
    shown = tuple(task.shown[k] for k in order)
    if task.expected is None:
        return replace(task, id=next(names), shown=shown)
    shown = tuple(replace(each, kind="test") for each in shown)
    expected = task.expected if order[0] == 0 else -task.expected
    return Task(next(names), task.item, shown, expected)
