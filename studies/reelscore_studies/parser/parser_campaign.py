"""The parser judged by people in a browser: a campaign on the rating pages.

As with the sheets of `parser_check`, but a judge says of each component whether it is right on
the whole clause, not word by word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.protocols import PARSER_CHECK
from reelscore.errors import DataError
from reelscore.store.locations import Where
from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import ROLES, Clause, Sentence
from reelscore_studies.parser.parser_check import ComponentCheck, chunk_tags, component_check

PER_HIT = 20
_SYSTEM = "parser"
_INSTRUCTIONS = (
    "You will see captions of videos, each with what a parser made of one of its clauses. Say of "
    "each part whether it is right.\n\n"
    "Tags are those of the Penn Treebank: NN is a noun, VBZ a verb. Phrases stand in brackets. The "
    "meaning of a word is given by other words that can have it, and by its topic."
)


def make_campaign(
    where: Where,
    parsed: Mapping[str, Sequence[Sentence]],
    *,
    judges: int = 3,
    name: str = "Parser check",
) -> int:
    """Make a campaign, in state ``open``, in which judges see every clause."""
    shown = list(_clauses(parsed))
    if not shown:
        raise DataError("There is no clause to judge.")
    tasks = [
        Task(f"c{number:05}", place, (Shown(_SYSTEM, text),))
        for number, (place, _, text) in enumerate(shown, start=1)
    ]
    starts = range(0, len(tasks), PER_HIT)
    hits = [Hit(f"h{s // PER_HIT + 1:04}", tuple(tasks[s : s + PER_HIT])) for s in starts]
    pages = {
        "title": name,
        "instructions": _INSTRUCTIONS,
        "contexts": {place: caption for place, caption, _ in shown},
        "practice": (),
        "review": False,
        "open": True,
    }
    with Campaign.create(
        where,
        name,
        systems=[_SYSTEM],
        protocol=PARSER_CHECK.name,
        raters_per_hit=judges,
        settings={"pages": pages},
    ) as campaign:
        campaign.add_hits(hits)
        campaign.set_state("open", actor="reelscore check-parser")
    return len(tasks)


def score_campaign(where: Where) -> list[ComponentCheck]:
    """Return what judges said of each component so far: the majority counts, ties are wrong."""
    with Campaign.open(where) as campaign:
        if campaign.terms.protocol.name != PARSER_CHECK.name:
            raise DataError(
                f"The campaign is one of {campaign.terms.protocol.name}; expected one that "
                "'reelscore check-parser --campaign' made."
            )
        judges = campaign.terms.raters_per_hit
        answers: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for judgment in campaign.judgments():
            answers[judgment.criterion][judgment.item].append(judgment.score == 1)
    if not answers:
        raise DataError("Nobody has judged a clause yet.")
    return [component_check(c.name, answers[c.name].items(), judges) for c in PARSER_CHECK.criteria]


def _clauses(parsed: Mapping[str, Sequence[Sentence]]) -> Iterator[tuple[str, str, str]]:
    """Yield a name for each clause, its caption, and what the parser made of it."""
    for item, sentences in parsed.items():
        for caption, sentence in enumerate(sentences, start=1):
            chunks = chunk_tags(sentence)
            for number, clause in enumerate(sentence.clauses, start=1):
                place = f"{item} {caption}.{number}"
                yield place, sentence.text, "\n".join(_lines(sentence, clause, chunks))


def _lines(sentence: Sentence, clause: Clause, chunks: Sequence[str]) -> Iterator[str]:
    tokens = [sentence.tokens[index] for index in clause.tokens]
    yield "Clause: " + " ".join(token.text for token in tokens)
    yield "Tags: " + " ".join(f"{token.text}/{token.tag}" for token in tokens)
    phrases: list[list[str]] = []
    for index in clause.tokens:
        if chunks[index].startswith("I") and phrases:
            phrases[-1].append(sentence.tokens[index].text)
        elif chunks[index] != "O":
            phrases.append([sentence.tokens[index].text])
    yield "Phrases: " + " ".join(f"[{' '.join(words)}]" for words in phrases)
    roles = {**dict.fromkeys(ROLES), **clause.filled}
    yield "Roles: " + ", ".join(
        f"{role} {filler.lemma.replace('_', ' ') if filler else '–'}"
        for role, filler in roles.items()
    )
    lexicon = Lexicon.load()
    meanings = [
        f"{filler.lemma} = {', '.join(lexicon.synonyms(filler.sense))} ({filler.sense.topic})"
        for filler in roles.values()
        if filler is not None and filler.sense is not None
    ]
    yield "Meanings: " + ("; ".join(meanings).replace("_", " ") or "–")
