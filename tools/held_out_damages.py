"""Leave one kind of damage at a time out of BERTHA's last stage: is it recognised all the same?

    python tools/held_out_damages.py judged.jsonl elsewhere.jsonl BEFORE results.json

BEFORE is the folder of a model that has not been shown damages. The stage is trained in a short
form, which a CPU can do: once with all kinds, once without each. The texts of one year are left out
of it, and the kinds are tried on that year's references by `reelscore stress`'s own code. What
results.json has is not made again; the table of all of it is printed at the end.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reelscore.learned.cross_encoder import CrossEncoder
from reelscore.learned.encoders import DEFAULT_ENCODER, encoder_folder
from reelscore.learned.judged_captions import read_captions
from reelscore.learned.model_files import ModelInfo, write_model
from reelscore.learned.sentence_vectors import SentenceEncoder, read_bert
from reelscore.learned.training.anchors import with_targets
from reelscore.learned.training.damages import damaged_pairs
from reelscore.learned.training.examples import training_examples
from reelscore.learned.training.held_out import hold_out
from reelscore.learned.training.loop import StageTraining
from reelscore.learned.training.model import last_part
from reelscore.learned.training.recipes import recipe_of
from reelscore.learned.training.teachers import ModelTeacher
from reelscore.meta import stress_metrics
from reelscore.metrics.training_data import plain_form
from reelscore.text.damages.exploits import exploit_kinds
from reelscore.text.damages.rules import HELD_OUT_NEGATIONS, damage_kinds

BEFORE, ALL = "before the stage", "all kinds taught"
UNSEEN = [f"negation/{form}" for form in HELD_OUT_NEGATIONS]


class ShortStage:
    """The last stage of the shipped recipe on few captions, from weights that are there."""

    def __init__(self, options: argparse.Namespace, seed: int) -> None:
        judged, elsewhere = read_captions(options.judged), read_captions(options.elsewhere)
        split = hold_out(judged, options.year)
        tested = {plain_form(text) for c in split.held_out for text in (c.candidate, *c.references)}
        chance = random.Random(seed)
        training = chance.sample(split.training, options.captions)
        others = [
            c
            for c in chance.sample(elsewhere, options.captions // 2)
            if not tested & {plain_form(text) for text in (c.candidate, *c.references)}
        ]
        self.references = {c.item: list(c.references) for c in split.held_out if not c.person}
        recipe = last_part(recipe_of("careful"))
        self.stage = replace(
            recipe.stages[0],
            batch=options.anchors,
            damaged=options.damaged,
            rate=options.rate,
            damage_weight=options.weight,
        )
        self.recipe, self.seed, self.steps = recipe, seed, options.steps
        self.items = options.items
        self.start = ModelTeacher(options.before).weights()
        self.network = CrossEncoder.start(DEFAULT_ENCODER, recipe.max_length, seed)
        self.network.restore(self.start)
        rows = training_examples(
            self.stage, training, np.random.default_rng(seed), elsewhere=others
        )
        self.rows = with_targets(rows, self.stage, self.network, SentenceEncoder())
        self.lessons = damaged_pairs(training, seed, exploit_kinds(), others)
        self.network.encoder.embeddings.requires_grad_(False)  # for speed

    def trained(self, kind: str) -> None:
        """Train from the start again, without a kind."""
        torch.manual_seed(self.seed)
        self.network.restore(self.start)
        scales, key = torch.nn.Parameter(torch.zeros(2, 1)), (self.seed, 0)
        unknown = {kind, *(["lacking"] if kind == "negation" else [])}
        lessons = {name: pairs for name, pairs in self.lessons.items() if name not in unknown}
        stage = StageTraining(
            self.network, scales, self.recipe, self.stage, self.rows, self.steps, key, lessons
        )
        # as on a GPU; a cache would keep the weights of the first step
        with torch.autocast("cpu", torch.bfloat16, cache_enabled=False):
            for _ in stage.steps():
                pass

    def shares(self, kinds: list[str]) -> dict[str, list[int]]:
        """Damaged captions below their original, and how many there are, by kind."""
        sentences = read_bert(Path(encoder_folder(DEFAULT_ENCODER)))
        assert sentences is not None
        vectors = {f"similarity.{name}": value for name, value in sentences[0].items()}
        config = self.network.encoder.config.to_dict()
        info = ModelInfo("trial", config, self.recipe.max_length, similarity=self.recipe.similarity)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer = self.network.tokens.tokenizer
            write_model(folder, {**self.network.state(), **vectors}, tokenizer, info)
            tokenizer.enable_truncation(self.recipe.max_length, strategy="longest_first")
            # few captions say who does what to whom: all of them
            tried = [
                trial
                for items, those in (
                    (self.items, [kind for kind in kinds if kind != "roles"]),
                    (None, [kind for kind in kinds if kind == "roles"]),
                )
                if those
                for trial in stress_metrics(
                    f"bertha|model:{folder}", self.references, kinds=those, items=items
                ).trials
            ]
        return {trial.kind: [trial.below, trial.captions] for trial in tried}


def table(results: dict[str, Any]) -> str:
    """All results as Markdown; several seeds as from – to."""
    kinds = list(dict.fromkeys(kind for own in results.values() for kind in own.get(ALL, [])))
    lines = [
        f"| damage | captions | {BEFORE} | {ALL} | all kinds but this |",
        "|---|---:|---:|---:|---:|",
    ]
    for kind in kinds:
        ways = (BEFORE, ALL, f"without {kind.split('/')[0]}")
        found = [
            [own[way][kind] for own in results.values() if kind in own.get(way, {})] for way in ways
        ]
        cells = " | ".join(_from_to([below / count for below, count in each]) for each in found)
        lines.append(f"| `{kind}` | {found[1][0][1]} | {cells} |")
    return "\n".join(lines)


def _from_to(shares: list[float]) -> str:
    ends = sorted(f"{share:.2f}".removeprefix("0") for share in shares)
    return "–".join(dict.fromkeys(ends[:1] + ends[-1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("judged", "elsewhere", "before", "results"):
        parser.add_argument(name)
    parser.add_argument("--year", default="2020", help="the year that is left out and tested")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--anchors", type=int, default=8, help="a step")
    parser.add_argument("--damaged", type=int, default=16, help="pairs a step")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--weight", type=float, default=1.0, help="of damages, beside anchors")
    parser.add_argument("--captions", type=int, default=2000, help="to learn from; half elsewhere")
    parser.add_argument("--items", type=int, default=200, help="to test on")
    parser.add_argument("--seed", type=int, action="append", help="2022; may be given again")
    parser.add_argument("--kinds", help="to leave out, if not all: negation,shuffle,…")
    parser.add_argument("--part", default="1/1", help="of the trainings, for several processes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = Path(options.results)
    part, parts = map(int, options.part.split("/"))
    kinds = options.kinds.split(",") if options.kinds else damage_kinds()
    ways = [BEFORE, ALL, *(f"without {kind}" for kind in kinds)][part - 1 :: parts]
    begin = time.time()
    for seed in options.seed or [2022]:
        missing = [way for way in ways if way not in read(path).get(str(seed), {})]
        short = ShortStage(options, seed) if missing else None
        for way in missing:
            assert short is not None
            kind = way.removeprefix("without ")
            if way == BEFORE:
                short.network.restore(short.start)
            else:
                short.trained(kind)
            every = way in (BEFORE, ALL)
            forms = UNSEEN if every or kind == "negation" else []
            shares = short.shares([*(damage_kinds() if every else [kind]), *forms])
            results = read(path)  # another process may have added to it
            results.setdefault(str(seed), {})[way] = shares
            path.write_text(json.dumps(results, indent=1) + "\n")
            print(f"{time.time() - begin:6.0f} s", seed, way, shares, file=sys.stderr, flush=True)
    print(table(read(path)))


def read(path: Path) -> dict[str, Any]:
    """The results so far: by seed and way, the shares of each kind."""
    return dict(json.loads(path.read_text())) if path.is_file() else {}


if __name__ == "__main__":
    main()
