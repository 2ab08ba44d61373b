"""Dealing captions out to HITs: all equally often, and nothing twice in the same HIT."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

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

    Args:
        decks: Texts by deck and item.
        hands: Where the cards go; what they already hold counts.
        size: How many cards each is to get.
        rng: The source of chance.
        shown: How often cards were dealt before, by deck and item; those dealt least come first.

    Raises:
        DataError: If a hand cannot be filled without showing the same text twice.

    >>> hands = [Hand(), Hand()]
    >>> texts = {f"v{k}": (f"text {k}",) for k in range(4)}
    >>> deal({"a": texts, "b": texts}, hands, 4, random.Random(1))
    >>> [len(hand.items) for hand in hands]
    [4, 4]
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
        self,
        decks: Mapping[str, Deck],
        rng: random.Random,
        shown: Mapping[tuple[str, str], int],
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
