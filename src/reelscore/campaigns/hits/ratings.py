"""HITs of ratings: captions of systems, hidden human captions, degraded captions, repeats.

Every caption of every system is shown equally often, systems have equal shares in each HIT, and
inside a HIT only planned repeats are shown twice. HITs of rankings and comparisons are in
`reelscore.campaigns.hits.comparisons`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from reelscore.campaigns.hits.distribution import Captions, Composer, Hand, Texts, deal, new_names
from reelscore.campaigns.hits.layouts import LAYOUTS, PILOT, HitLayout
from reelscore.campaigns.hits.layouts import layout as layout_named
from reelscore.campaigns.hits.tasks import Hit, HitPlan
from reelscore.errors import DataError
from reelscore.text.damages.degraded import degrade


def build_hits(
    systems: Mapping[str, Captions],
    humans: Captions,
    *,
    seed: int,
    layout: str | HitLayout = "trecvid",
    hits: int | None = None,
    human: str = "human",
    references: Captions | None = None,
    shown: Mapping[tuple[str, str], int] | None = None,
) -> HitPlan:
    """Build HITs of ratings.

    Captions are dealt out in rounds: all of them once before any a second time. Over the whole
    plan they differ by one showing at most, and so do systems that have the same items; a system
    with fewer captions is shown that much less. A video comes into a HIT once, as long as there
    are enough of them. Captions that run out begin again, and a note says so.

    A control carries the system and item of its caption, whatever its text, so that the two are
    found as a pair; a reference too.

    Args:
        systems: Captions by system and item.
        humans: The human caption of items. Only items with one, and with a caption of a system,
            are used as human tasks and references.
        seed: Seed of all random choices. The order of systems and items does not matter.
        layout: What a HIT is made of, by name or in words; see
                `reelscore.campaigns.hits.layouts.layout`.
        hits: How many HITs; by default as many as show every caption of a system.
        human: What the hidden human system is called.
        references: Captions for controls of the kind ``reference``, by item; the human ones.
        shown: How often captions were shown before, by system and item; those shown least come
            first.

    Raises:
        DataError: If there are too few captions for a HIT, or names collide.

    >>> from reelscore.examples import clips
    >>> systems, _ = clips()
    >>> people = systems.pop("human")
    >>> plan = build_hits(systems, people, seed=1,
    ...                   layout="systems:15 humans:10 degraded_humans:10 repeated_systems:3")
    >>> print(plan)
    3 HITs of 38 tasks: 75 captions, ... (hits|systems:15 ...|seed:1)
      broken: 15
      human: 30
      strong: 15
      weak: 15
    There are only 15 human captions for 30 tasks: some are shown again.
    """
    chosen = layout_named(layout) if isinstance(layout, str) else layout
    builder = _Builder(chosen, systems, humans, humans if references is None else references, human)
    count = builder.needed if hits is None else hits
    if count < 1:
        raise DataError(f"{count} HITs; expected at least 1.")
    return builder.build(count, seed, shown)


class _Builder:
    def __init__(
        self,
        layout: HitLayout,
        systems: Mapping[str, Captions],
        people: Captions,
        references: Captions,
        human: str,
    ) -> None:
        self.systems, self.human = systems, human
        self.people, self.references = people, references
        self.items = {item for captions in systems.values() for item in captions}
        self.humans = {item: people[item] for item in sorted(self.items & set(people))}
        self.size = sum(map(len, systems.values()))
        self.is_fitted = layout == LAYOUTS[PILOT]
        self.layout = layout.fitted(*self._free()) if self.is_fitted else layout
        self._check()

    def _free(self) -> tuple[int, int]:
        """Count captions of systems and of people that a HIT can show, each text of a video once.

        Systems have equal shares; what says the same as another is not counted.
        """
        said = Counter(each for captions in self.systems.values() for each in captions.items())
        own = [
            sum(said[each] == 1 for each in captions.items()) for captions in self.systems.values()
        ]
        people = sum(not said[each] for each in self.humans.items())
        return min(own, default=0) * len(own), people

    @property
    def needed(self) -> int:
        """How many HITs show every caption of a system."""
        return -(-self.size // self.layout.systems)

    def _check(self) -> None:
        if self.human in self.systems:
            raise DataError(
                f"{self.human!r} is the name of a system and of the hidden human captions; choose "
                "another for these."
            )
        different = {each for captions in self.systems.values() for each in captions.items()}
        for wanted, there, what in (
            (self.layout.systems, len(different), "different captions of systems"),
            (self.layout.humans, len(self.humans), "human captions"),
        ):
            if there < wanted:
                raise DataError(
                    f"A HIT shows {wanted} {what}, but there are {there}. Choose a layout with "
                    "fewer: pilot fits itself to small sets."
                )
        everyone = {**self.systems, self.human: self.humans}
        empty = [(s, i) for s, each in everyone.items() for i in each if not each[i].strip()]
        if empty:
            raise DataError(
                f"{len(empty)} {'caption is' if len(empty) == 1 else 'captions are'} empty "
                f"(first: {empty[0][0]!r}, item {empty[0][1]!r}); "
                "there is nothing to rate. Leave them out."
            )

    def build(self, count: int, seed: int, shown: Mapping[tuple[str, str], int] | None) -> HitPlan:
        texts = self._texts(seed)
        rng = random.Random(f"hits {seed}")
        hands = [Hand() for _ in range(count)]
        decks = {name: texts.deck(name) for name in self.systems}
        deal(decks, hands, self.layout.systems, rng, shown)
        if self.layout.humans:
            deal({self.human: texts.deck(self.human)}, hands, self.layout.humans, rng, shown)
        compose = Composer(self.layout, texts, rng).compose
        names = new_names(random.Random(f"names {seed}"))
        hits = [
            Hit(next(names), tuple(replace(each, id=next(names)) for each in compose(hand)))
            for hand in hands
        ]
        signature = f"hits|{self.layout}|human:{self.human}|hits:{count}|seed:{seed}"
        return HitPlan(tuple(hits), signature, tuple(self._notes(count)))

    def _texts(self, seed: int) -> Texts:
        """Degrade whole sets of captions at once; the words come from captions of people."""
        captions = {**self.systems, self.human: self.humans}
        names = [self.human] if self.layout.degraded_humans else []
        names += sorted(self.systems) if self.layout.degraded_systems else []
        degraded = {
            name: degrade(
                captions[name], seed=seed + k, rules=self.layout.rules, lenders=self.people
            )
            for k, name in enumerate(names)
        }
        return Texts(captions, degraded, self.references, self.human)

    def _notes(self, count: int) -> Iterator[str]:
        if self.is_fitted and self.layout.pairs < LAYOUTS[PILOT].pairs:
            yield (
                f"A HIT has {self.layout.pairs} pairs of a caption and its degraded caption, too "
                f"few for the usual test of a rater, which asks for {LAYOUTS[PILOT].pairs}: unless "
                "fewer are asked for, nobody is tested and all raters count."
            )
        for what, there, size in (
            ("captions of systems", self.size, self.layout.systems),
            ("human captions", len(self.humans), self.layout.humans),
        ):
            if count * size > there:
                yield (
                    f"There are only {there} {what} for {count * size} tasks: some are shown again."
                )
        if count * self.layout.systems < self.size:
            left = self.size - count * self.layout.systems
            yield f"{left} of {self.size} captions of systems are not shown."
        sizes = {len(captions) for captions in self.systems.values()}
        if len(sizes) > 1:
            yield (
                f"Systems have from {min(sizes)} to {max(sizes)} captions and are shown in "
                "proportion."
            )
        shared = set(self.items).intersection(*self.systems.values())
        if len(shared) < len(self.items):
            yield f"{len(shared)} of {len(self.items)} items have captions of all systems."
        lacking = len(self.items) - len(self.humans)
        if lacking and self.layout.humans:
            yield f"{lacking} of {len(self.items)} items have no human caption."
