"""Examples of each damage and exploit. Writes a page of the documentation.

    python tools/stress_examples.py

The captions are those of the embedded clips and stories, and some more below, all written for
reelscore. A test checks that the page is as this program writes it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from reelscore.examples import clips, stories
from reelscore.meta.stress.cases import ABOUT, DEGRADED, Case, make_cases, take_out
from reelscore.text import damage, damage_forms, damage_kinds, exploit_kinds

PAGE = Path(__file__).resolve().parents[1] / "docs" / "stress-examples.md"
SEED = 12345
SHOWN, LONGEST = 5, 90

# Who does what to whom, numbers and colours are rare in the embedded captions.
MORE = """
A boy chases a cat around the kitchen table.
A woman is feeding a baby in a high chair.
Two dogs attack a man in a padded suit.
A police officer arrests a man outside a bank.
A nurse pushes an old man in a wheelchair.
A child is riding a pony at the fair.
A lion carries its cub across the river.
A girl throws a ball to a dog.
A man is bitten by a snake.
A mother scolds a boy in a supermarket.
A coach lifts a gymnast onto the bar.
A clown scares a little girl at a birthday party.
A farmer milks a cow in a barn.
A doctor examines a patient with a stethoscope.
Two policemen follow a woman through a crowd.
A kitten licks a puppy on a blue couch.
A horse kicks a man in a red jacket.
A teacher helps three students in a classroom.
A man pulls a girl out of the water.
A barber shaves a customer in front of a mirror.
A boy in a green shirt opens a yellow umbrella.
Two women in white dresses walk into a church.
A black cat jumps onto a brown table.
Three men carry a gray couch down the stairs.
A woman with a pink bag gets into a red car.
Four boys play soccer on a wet field.
Five girls in blue shirts are laughing.
An old man closes the door and sits on a bench.
A woman in a purple coat is crying in an airport.
A dog with a yellow ball swims in a lake.
A man is pushing a white car up a hill.
Two children build a house of orange blocks.
""".strip().splitlines()


def captions() -> list[str]:
    """Gather captions that may be printed."""
    _, references = clips()
    _, annotators = stories()
    told = [
        sentence.strip()
        for story in annotators["annotator_1"].values()
        for sentence in story["sentences"]
    ]
    return [*MORE, *(text for texts in references.values() for text in texts), *told]


def damaged(kind: str) -> Iterator[tuple[str, str, str]]:
    """Yield form, caption and damaged caption; the forms take turns, and so do the captions."""
    texts = captions()
    random.Random(f"{SEED} {kind}").shuffle(texts)
    forms = damage_forms(kind)
    shown = max(SHOWN, len(forms))
    used: set[str] = set()
    made = 0
    while made < shown:
        before = made
        for form in forms:
            for text in texts:
                rng = random.Random(f"{SEED} {kind} {text}")
                changed = None if text in used else damage(kind, text, rng, forms=[form])
                if changed is not None:
                    used.add(text)
                    yield form, text, changed
                    made += 1
                    break
            if made == shown:
                return
        if made == before:
            return


def of_other_captions() -> dict[str, list[Case]]:
    """Return the cases of the kinds that need captions of other videos, by kind."""
    originals, others = take_out(clips()[1], SEED)
    return make_cases(originals, others, [DEGRADED, *exploit_kinds()], SEED)


def page() -> str:
    """Write the page."""
    lines = [
        "# Examples of damages",
        "",
        f"What the rules of the [stress test](stress.md) make of captions: {SHOWN} examples of "
        "each kind, and at least one of each form. `python tools/stress_examples.py` writes this "
        "page.",
    ]
    for kind in damage_kinds():
        lines += ["", f"## {kind}", "", f"{ABOUT[kind].capitalize()}.", ""]
        lines += ["| form | caption | damaged |", "|---|---|---|"]
        lines += [f"| {form} | {_cell(old)} | {_cell(new)} |" for form, old, new in damaged(kind)]
    for kind, cases in of_other_captions().items():
        lines += ["", f"## {kind}", "", f"{ABOUT[kind][:1].upper()}{ABOUT[kind][1:]}.", ""]
        lines += [f"| original | {'damaged' if kind == DEGRADED else 'exploit'} |", "|---|---|"]
        lines += [f"| {_cell(case.original)} | {_cell(case.changed)} |" for case in cases[:SHOWN]]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    text = text.replace("|", "\\|")
    return text if len(text) <= LONGEST + 40 else f"{text[:LONGEST]}…"


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
