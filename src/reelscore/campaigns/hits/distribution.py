"""Captions into HITs: all equally often, nothing twice in the same HIT, and in which order.

Some captions of a HIT get a degraded copy, or come again; between copies there is a distance.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reelscore.campaigns.hits.layouts import HitLayout
from reelscore.campaigns.hits.tasks import Kind, Shown, Task
from reelscore.errors import DataError

_NEAR = 20  # hands that are looked through for the sake of a video
Deck = Mapping[str, tuple[str, ...]]  # the texts that a card puts before the rater, by item


class Card(NamedTuple):
    """One thing to be judged: of which system, or pair of systems, and which video."""

    deck: str
    item: str
    texts: tuple[str, ...]


@dataclass
class Hand:
    """The cards of one HIT."""

    cards: list[Card] = field(default_factory=list)
    items: Counter[str] = field(default_factory=Counter)
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    def put(self, card: Card, times: int = 1) -> None:
        """Add a card, or with ``times=-1`` take one away."""
        if times > 0:
            self.cards.append(card)
        else:
            self.cards.remove(card)
        self.items[card.item] += times
        if not self.items[card.item]:
            del self.items[card.item]
        for text in card.texts:
            self.seen[card.item, text] += times

    def clashes(self, card: Card, *, alone: bool) -> bool:
        """Return whether the hand already shows a text of the card, or (alone) its video at all."""
        if alone:
            return self.items[card.item] > 0
        return any(self.seen[card.item, text] > 0 for text in card.texts)


def deal(
    decks: Mapping[str, Deck],
    hands: Sequence[Hand],
    size: int,
    rng: random.Random,
    shown: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Add a number of cards to every hand, taking turns between the decks.

    All cards are dealt before any is dealt again, and each deck has its share in every hand: with
    decks of the same size, shares differ by one at most. A video comes into a hand once, as long
    as there are others; the same text of a video never comes twice.
    """
    dealer = _Dealer(decks, rng, shown or {})
    for k, hand in enumerate(hands):
        for _ in range(size):
            card = dealer.next(hand)
            if hand.clashes(card, alone=True) and dealer.has_more(hand):
                card = _exchanged(card, hand, hands[max(0, k - _NEAR) : k], alone=True)
            if hand.clashes(card, alone=False):
                card = _exchanged(card, hand, hands[:k], alone=False)
            if hand.clashes(card, alone=False):
                raise DataError(
                    f"A HIT would show the same caption of item {card.item!r} twice "
                    f"({card.texts[0]!r}): there are too few different captions. Make HITs "
                    "smaller, or leave out systems that say the same."
                )
            hand.put(card)


class _Dealer:
    """Decks that are shuffled again whenever all cards are dealt."""

    def __init__(
        self, decks: Mapping[str, Deck], rng: random.Random, shown: Mapping[tuple[str, str], int]
    ) -> None:
        self.decks = {name: decks[name] for name in sorted(decks)}
        self.videos = len({item for deck in decks.values() for item in deck})
        self.rng = rng
        self.waiting: dict[str, list[Card]] = {}
        self.turns: list[str] = []
        self.order = rng.sample(list(self.decks), len(self.decks))
        cards = [(name, item) for name, deck in self.decks.items() for item in deck]
        self.shown = {card: shown.get(card, 0) for card in cards}
        self.round = min(self.shown.values(), default=0)

    def next(self, hand: Hand) -> Card:
        """Take the next card of the deck whose turn it is; one that suits the hand goes first."""
        if not self.turns:
            self._shuffle()
        waiting = self.waiting[self.turns.pop()]
        for alone in (True, False) if self.has_more(hand) else (False,):
            for k in range(len(waiting) - 1, -1, -1):
                if not hand.clashes(waiting[k], alone=alone):
                    return waiting.pop(k)
        return waiting.pop()

    def has_more(self, hand: Hand) -> bool:
        """Return whether there can be a video that the hand does not have yet."""
        return len(hand.items) < self.videos

    def _shuffle(self) -> None:
        places: list[tuple[float, int, str]] = []
        for k, name in enumerate(self.order):
            deck = self.decks[name]
            due = [item for item in sorted(deck) if self.shown[name, item] <= self.round]
            items = self.rng.sample(due, len(due))
            self.shown |= {(name, item): self.round + 1 for item in due}
            self.waiting[name] = [Card(name, item, deck[item]) for item in items]
            # decks of different sizes are spread over the whole round
            places += [((place + 0.5) / len(due), k, name) for place in range(len(due))]
        self.round += 1
        self.turns = [name for _, _, name in sorted(places, reverse=True)]


def _exchanged(card: Card, hand: Hand, others: Sequence[Hand], *, alone: bool) -> Card:
    """Put a card that does not suit a hand into another, for one that suits; else give it back."""
    for other in reversed(others):
        for candidate in other.cards:
            if (
                candidate.deck == card.deck
                and not hand.clashes(candidate, alone=alone)
                and not other.clashes(card, alone=alone)
            ):
                other.put(candidate, -1)
                other.put(card)
                return candidate
    return card


Captions = Mapping[str, str]  # by item


@dataclass(frozen=True)
class Texts:
    """All that can be shown."""

    captions: Mapping[str, Captions]  # by system and item, people being one system
    degraded: Mapping[str, Captions]  # degraded captions, by system and item
    references: Captions  # by item
    human: str  # the name of the human system

    def deck(self, system: str) -> dict[str, tuple[str, ...]]:
        """Return what each caption may put on the screen: itself, and its degraded caption."""
        degraded = self.degraded.get(system, {})
        return {
            item: (text, degraded[item]) if item in degraded else (text,)
            for item, text in self.captions[system].items()
        }

    def task(self, card: Card, kind: Kind) -> Task:
        """Make a task, without a name yet; a control keeps the system and item of its caption."""
        text = self.captions[card.deck][card.item]
        if kind == "degraded":
            text = self.degraded[card.deck][card.item]
        elif kind == "reference":
            text = self.references[card.item]
        return Task("", card.item, (Shown(card.deck, text, kind),))


class Composer:
    """Makes one HIT after the other; systems take turns in having controls."""

    def __init__(self, layout: HitLayout, texts: Texts, rng: random.Random) -> None:
        self.layout, self.texts, self.rng = layout, texts, rng
        self.tally: Counter[tuple[Kind, str]] = Counter()

    def compose(self, hand: Hand) -> list[Task]:
        """Return the tasks of a HIT in order."""
        sets, human = self.layout.sets, self.texts.human
        humans = [card for card in hand.cards if card.deck == human]
        others = [card for card in hand.cards if card.deck != human]
        self.rng.shuffle(others)  # they came in turns
        parts = [(others[k::sets], humans[k::sets]) for k in range(sets)]
        captions = [[self.texts.task(card, "caption") for card in (*a, *b)] for a, b in parts]
        controls = [[*self._system_controls(a, hand), *self._human_controls(b)] for a, b in parts]
        if sets == 1:
            tasks = captions[0] + controls[0]
            pairs = [(task.shown[0].system, task.item) for task in tasks]
            return [tasks[k] for k in spaced(pairs, self.layout.distance, self.rng)]
        ordered: list[Task] = []
        for k in range(sets):
            tasks = captions[k] + controls[(k + sets // 2) % sets]
            ordered += self.rng.sample(tasks, len(tasks))
        return ordered

    def _human_controls(self, humans: Sequence[Card]) -> Iterator[Task]:
        part = self.layout
        for card in self.rng.sample(humans, part.degraded_humans // part.sets):
            yield self.texts.task(card, "degraded")
        for card in self.rng.sample(humans, part.repeated_humans // part.sets):
            yield self.texts.task(card, "repeat")

    def _system_controls(self, cards: Sequence[Card], hand: Hand) -> Iterator[Task]:
        """Choose captions for controls, each for one at most."""
        part, free = self.layout, list(cards)
        numbers: dict[Kind, int] = {
            "reference": part.references,
            "degraded": part.degraded_systems,
            "repeat": part.repeated_systems,
        }
        for kind, number in numbers.items():
            for _ in range(number // part.sets):
                able = [card for card in free if kind != "reference" or self._is_new(card, hand)]
                if not able:
                    raise DataError(
                        f"A HIT shows {part.references} references of captions that differ from "
                        "them, but too few captions have such a reference. Add references, or "
                        "choose another layout."
                    )
                shuffled = self.rng.sample(able, len(able))
                card = min(shuffled, key=lambda each: self.tally[kind, each.deck])
                self.tally[kind, card.deck] += 1
                free.remove(card)
                if kind == "reference":
                    hand.seen[card.item, self.texts.references[card.item]] += 1
                yield self.texts.task(card, kind)

    def _is_new(self, card: Card, hand: Hand) -> bool:
        """Return whether the card's video has a reference that the HIT does not show yet."""
        reference = self.texts.references.get(card.item)
        return reference is not None and not hand.seen[card.item, reference]


_MIXING = 10  # exchanges for each task, until any order that is allowed is as likely as another
_PATIENCE = 2000  # exchanges for each task, before the search is given up


def spaced(groups: Sequence[Hashable], distance: int, rng: random.Random) -> list[int]:
    """Order tasks at random, those of one group at least so far apart.

    Starting from a random order, pairs of tasks change places unless that brings a caption and its
    controls too near. In the long run every order that keeps the distance is equally likely.
    """
    size = len(groups)
    order = rng.sample(range(size), size)
    members: dict[Hashable, list[int]] = {}
    for task, group in enumerate(groups):
        members.setdefault(group, []).append(task)
    too_far = (
        f"No order of the {size} tasks of a HIT keeps captions and their controls {distance} "
        "tasks apart. Lower the distance, or have fewer controls."
    )
    if (max(map(len, members.values()), default=0) - 1) * distance >= size:
        raise DataError(too_far)
    place = [0] * size
    for k, task in enumerate(order):
        place[task] = k
    others = [[other for other in members[groups[task]] if other != task] for task in range(size)]

    def too_near(task: int) -> int:
        return sum(abs(place[task] - place[other]) < distance for other in others[task])

    def swap(one: int, other: int) -> None:
        place[one], place[other] = place[other], place[one]

    conflicts = sum(map(too_near, range(size)))  # each pair twice
    for trial in range(_PATIENCE * size):
        if conflicts == 0 and trial >= _MIXING * size:
            break
        one, other = rng.randrange(size), rng.randrange(size)
        before = too_near(one) + too_near(other)
        swap(one, other)
        change = too_near(one) + too_near(other) - before
        if change > 0:
            swap(one, other)
        else:
            conflicts += 2 * change
    if conflicts:
        raise DataError(too_far)
    return sorted(range(size), key=place.__getitem__)


def new_names(rng: random.Random) -> Iterator[str]:
    """Yield names of HITs and tasks, all different: hexadecimal digits that tell nothing."""
    taken: set[str] = set()
    while True:
        name = f"{rng.getrandbits(48):012x}"
        if name not in taken:
            taken.add(name)
            yield name
