"""HITs for any protocol from captions: what a campaign is made of, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reelscore.campaigns.hits.comparisons import build_pair_hits, build_ranking_hits
from reelscore.campaigns.hits.distribution import Captions
from reelscore.campaigns.hits.ratings import build_hits
from reelscore.campaigns.hits.tasks import HitPlan, Task
from reelscore.campaigns.protocols import protocol
from reelscore.data.stories import Stories
from reelscore.errors import DataError

REFERENCE = "reference"


@dataclass(frozen=True)
class Design:
    """How HITs are to be made.

    Attributes:
        protocol: What raters are asked.
        layout: For ratings, what a HIT is made of.
        hits: How many HITs; as many as show everything once, if not given.
        per_hit: For rankings and comparisons, how many tasks a HIT has.
        human: What the hidden human system is called.
        seed: Of all chance.
    """

    protocol: str = "direct-assessment"
    layout: str = "trecvid"
    hits: int | None = None
    per_hit: int = 10
    human: str = "human"
    seed: int = 0


def make_hits(
    design: Design, systems: Mapping[str, Captions], humans: Captions, tests: Sequence[Task] = ()
) -> HitPlan:
    """Build the HITs of a campaign.

    Args:
        design: How.
        systems: Captions by system and item.
        humans: People's caption of each item: the hidden human system of ratings, or the
            references that systems are compared with.
        tests: Questions with known answers, for comparisons.

    Raises:
        DataError: If captions are missing that the protocol needs.

    >>> from reelscore.examples import clips
    >>> systems, references = clips()
    >>> people = systems.pop("human")
    >>> plan = make_hits(Design("against-reference", per_hit=5), systems, people)
    >>> len(plan.hits), {shown.system for shown in plan.tasks[0].shown} >= {"reference"}
    (9, True)
    """
    captions = {**systems}
    if protocol(design.protocol).needs_people and not humans:
        raise DataError(f"{design.protocol} needs human captions; name a file of references.")
    if design.protocol == "against-reference":
        if REFERENCE in systems:
            raise DataError(f"A system is called {REFERENCE!r}, as the references are; rename it.")
        captions[REFERENCE] = humans
    elif protocol(design.protocol).form == "rating":
        captions[design.human] = humans
        if design.human in systems:
            raise DataError(
                f"{design.human!r} is the name of a system and of the hidden human captions; "
                "choose another for these."
            )
    return more_hits(design, captions, {}, tests)


def more_hits(
    design: Design,
    captions: Mapping[str, Captions],
    shown: Mapping[tuple[str, str], int],
    tests: Sequence[Task] = (),
) -> HitPlan:
    """Build more HITs of the same captions; those shown least come first."""
    asked = protocol(design.protocol)
    if asked.form == "rating":
        systems = {name: texts for name, texts in captions.items() if name != design.human}
        plan = build_hits(
            systems,
            captions[design.human],
            seed=design.seed,
            layout=design.layout,
            hits=design.hits,
            human=design.human,
            shown=shown,
        )
    elif asked.form == "ranking":
        plan = build_ranking_hits(
            captions, seed=design.seed, per_hit=design.per_hit, hits=design.hits, shown=shown
        )
    else:
        plan = build_pair_hits(
            captions,
            seed=design.seed,
            against=REFERENCE if asked.name == "against-reference" else None,
            per_hit=design.per_hit,
            tests=tests,
            hits=design.hits,
            shown=shown,
        )
    return replace(plan, captions=captions)


def story_texts(stories: Stories) -> dict[str, str]:
    """Write the timed captions of each video as one text, a caption a line, for raters to read."""
    texts = {}
    for video, story in stories.items():
        ordered = story.in_time_order()
        times = [[f"{int(t) // 60}:{int(t) % 60:02}" for t in each] for each in ordered.segments]
        rows = zip(times, ordered.sentences, strict=True)
        texts[video] = "\n".join(f"{start}–{end} {sentence}" for (start, end), sentence in rows)
    return texts
