"""From label scores to sentences: greedy or by a beam, with one network or several.

Several networks are an ensemble: at each step the mean of their word distributions is taken. A beam
keeps the sentences with the highest Σ log p / length^α; equal ones go by the number of the word.
Marks are never said, and a caption has at least one word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reelscore.errors import DataError
from reelscore_studies.baselines.networks.caption_words import BEGIN, END, PAD, UNKNOWN
from reelscore_studies.baselines.networks.lstm import CaptionNetwork, States, need_torch

if TYPE_CHECKING:
    from torch import Tensor

ALPHA = 0.7
_ROWS = 4096  # captions decoded together


def decode(
    networks: Sequence[CaptionNetwork],
    labels: Sequence[Tensor],
    *,
    beam: int = 1,
    longest: int = 30,
) -> list[list[int]]:
    """Write a caption for each row of label scores, which are given for each network: its words."""
    if beam < 1 or longest < 1:
        raise DataError(f"A beam of {beam} and {longest} words; expected 1 or more.")
    torch = need_torch()
    rows: list[list[int]] = []
    size = max(1, _ROWS // beam)
    with torch.no_grad():
        for begin in range(0, len(labels[0]), size):
            own = [part[begin : begin + size] for part in labels]
            found = (
                _greedy(networks, own, longest)
                if beam == 1
                else _beam(networks, own, beam, longest)
            )
            rows += found.tolist()
    return rows


def _log_chances(
    networks: Sequence[CaptionNetwork],
    labels: Sequence[Tensor],
    words: Tensor,
    states: Sequence[States | None],
    first: bool,
) -> tuple[Tensor, list[States]]:
    """Logarithms of the chances of the next word; what must not be said has none."""
    torch = need_torch()
    chances, after = None, []
    for network, scores, state in zip(networks, labels, states, strict=True):
        logits, new = network.logits(words[:, None], scores, state)
        after.append(new)
        own = torch.softmax(logits[:, 0].double(), dim=1)
        chances = own if chances is None else chances + own
    assert chances is not None
    logs = (chances / len(networks)).log()
    for mark in (PAD, BEGIN, UNKNOWN, *([END] if first else [])):
        logs[:, mark] = float("-inf")  # one by one: a list of places would be sent to the device
    return logs, after


def _greedy(networks: Sequence[CaptionNetwork], labels: Sequence[Tensor], longest: int) -> Tensor:
    torch = need_torch()
    count, device = len(labels[0]), networks[0].device
    words = torch.full((count,), BEGIN, device=device)
    over = torch.zeros(count, dtype=torch.bool, device=device)
    states: Sequence[States | None] = [None] * len(networks)
    said = []
    for step in range(longest):
        logs, states = _log_chances(networks, labels, words, states, step == 0)
        words = logs.argmax(dim=1)
        said.append(torch.where(over, PAD, words))
        over = over | (words == END)
    return torch.stack(said, dim=1)


def _beam(
    networks: Sequence[CaptionNetwork], labels: Sequence[Tensor], beam: int, longest: int
) -> Tensor:
    torch = need_torch()
    count, device = len(labels[0]), networks[0].device
    size = networks[0].shape.words
    labels = [part.repeat_interleave(beam, dim=0) for part in labels]
    words = torch.full((count * beam,), BEGIN, device=device)
    over = torch.zeros((count, beam), dtype=torch.bool, device=device)
    total = torch.full((count, beam), float("-inf"), dtype=torch.float64, device=device)
    total[:, 0] = 0  # one sentence, still empty
    length = torch.zeros((count, beam), dtype=torch.float64, device=device)
    said = torch.full((count, beam, 0), PAD, device=device)
    states: Sequence[States | None] = [None] * len(networks)
    base = torch.arange(count, device=device)[:, None] * beam
    only_pad = torch.full((size,), float("-inf"), dtype=torch.float64, device=device)
    only_pad[PAD] = 0
    for step in range(longest):
        logs, after = _log_chances(networks, labels, words, states, step == 0)
        logs = torch.where(over[..., None], only_pad, logs.view(count, beam, size))
        sums = total[..., None] + logs
        lengths = length + (~over).double()
        ranked = (sums / lengths[..., None] ** ALPHA).view(count, beam * size)
        places = []
        for _ in range(beam):  # the first of equal ones, which a sort would not promise
            place = ranked.argmax(dim=1, keepdim=True)
            ranked.scatter_(1, place, float("-inf"))
            places.append(place)
        chosen = torch.cat(places, dim=1)
        parent, word = chosen // size, chosen % size
        total = sums.view(count, beam * size).gather(1, chosen)
        length = lengths.gather(1, parent)
        said = torch.cat(
            [said.gather(1, parent[..., None].expand(-1, -1, step)), word[..., None]], dim=2
        )
        over = over.gather(1, parent) | (word == END)
        rows = (base + parent).view(-1)
        states = [[(h[:, rows], c[:, rows]) for h, c in state] for state in after]
        words = word.view(-1)
    best = (total / length**ALPHA).argmax(dim=1)
    return said[torch.arange(count, device=device), best]
