"""Train BERTHA on one GPU: every year held out in turn, then all years; many processes at once.

    python tools/train_bertha.py judged.jsonl ENCODER OUT
    python tools/train_bertha.py judged.jsonl ENCODER OUT --only --seed 2032
    python tools/train_bertha.py judged.jsonl ENCODER OUT --only --without similarity
    python tools/train_bertha.py judged.jsonl ENCODER OUT --only --elsewhere elsewhere.jsonl \
        --last bertha: --last "alone:similarity=(0,0)" --last "blind@2018:unknown=['stutter']"
    python tools/train_bertha.py judged.jsonl ENCODER OUT --only --elsewhere elsewhere.jsonl \
        --student small:

`judged.jsonl` is what `reelscore bertha prepare` writes, `elsewhere.jsonl` what
`elsewhere_captions.py` writes; ENCODER is a name or a folder. OUT gets the final
weights in parts (weights.0 …), and predictions.npz: for each caption held out, the score against
each of its references, by the shipped recipe and by the paper's. ``--only`` leaves the paper's
out; ``--seed`` and ``--without`` tell how far the figures depend on chance and on each part.
``--student`` also trains smaller networks, which the first way of the last stage teaches, or
another that they name.
"""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("RAYON_NUM_THREADS", "2")

import numpy as np
import torch

from reelscore.learned.judged_captions import JudgedCaption, read_captions
from reelscore.learned.metrics.over_references import over_references
from reelscore.learned.networks.cross_encoder import CrossEncoder
from reelscore.learned.networks.sentence_vectors import SentenceEncoder, cosines
from reelscore.learned.training.fit import average
from reelscore.learned.training.hold_out import hold_out
from reelscore.learned.training.loop import train
from reelscore.learned.training.recipes import Recipe, recipe_of
from reelscore.meta.stress.cases import make_cases, stress_kinds, take_out
from reelscore.metrics.training_data import plain_form
from reelscore.text.damages.rules import damage_forms

ALL = "all"
SEED = 2022
RECIPE = recipe_of("careful")
WORKERS = int(os.environ.get("WORKERS", "18"))
FOLDS: dict[str, tuple[list[JudgedCaption], list[JudgedCaption]]] = {}
HELD_OUT_TEXTS: dict[str, set[str]] = {}
OTHERS: list[JudgedCaption] = []
LAST: dict[str, dict[str, Any]] = {}
STUDENTS: dict[str, dict[str, Any]] = {}
SHARES = [1.0]
DONE: set[str] = set()
ENCODER = ""
HOME = Path()
START = time.time()


PARTS = ("similarity", "people", "SA", "MA", "correlation")


def without(recipe: Recipe, part: str) -> Recipe:
    """Leave one part out of a recipe: a stage, judgments of a kind, or a term of the loss."""
    if part == "correlation":
        return replace(recipe, stages=tuple(replace(s, correlation=0.0) for s in recipe.stages))
    kept = tuple(s for s in recipe.stages if s.source != part and s.kinds != (part,))
    return replace(recipe, stages=kept)


def keep(state: dict[str, Any], name: str) -> None:
    torch.save(state, HOME / f"{name}.part")
    (HOME / f"{name}.part").rename(HOME / name)


def shared(fold: str) -> None:
    torch.set_num_threads(1)
    if (HOME / f"{fold}.shared").exists():
        return
    embedding = SentenceEncoder(ENCODER)
    model = train(FOLDS[fold][0], RECIPE.shared, encoder=ENCODER, seed=SEED, embedding=embedding)
    keep(model.network.state(), f"{fold}.shared")


def member(fold: str, number: int) -> dict[str, Any]:
    torch.set_num_threads(1)
    if (HOME / f"{fold}.member{number}").exists():
        return {}
    start = torch.load(HOME / f"{fold}.shared")
    recipe = RECIPE.own
    model = train(FOLDS[fold][0], recipe, encoder=ENCODER, seed=SEED + number, start=start)
    keep(model.network.state(), f"{fold}.member{number}")
    return {} if fold == ALL else held_out(model.network, fold, f"member{number}", ("MA",))


def averaged(fold: str) -> dict[str, Any]:
    torch.set_num_threads(1)
    if (HOME / f"{fold}.averaged").exists():
        return {}
    network = CrossEncoder.start(ENCODER, RECIPE.max_length, SEED).to(
        "cuda" if torch.cuda.is_available() else "cpu"
    )
    network.restore(
        average([torch.load(HOME / f"{fold}.member{k + 1}") for k in range(RECIPE.members)])
    )
    keep(network.state(), f"{fold}.averaged")
    return {} if fold == ALL else held_out(network, fold, "averaged", ("SA", "MA"))


def last(fold: str, name: str) -> dict[str, Any]:
    """The stage after the averaging, in one of several ways."""
    torch.set_num_threads(1)
    if f"below {name}|{fold}" in DONE or (fold == ALL and (HOME / f"{ALL}.{name}").exists()):
        return {}
    embedding = SentenceEncoder(ENCODER)
    network = train(
        FOLDS[fold][0],
        last_recipe(LAST[name]),
        encoder=ENCODER,
        seed=SEED,
        start=torch.load(HOME / f"{fold}.averaged"),
        embedding=embedding,
        elsewhere=[c for c in OTHERS if not texts_of(c) & HELD_OUT_TEXTS[fold]],
    ).network
    keep(network.state(), f"{fold}.{name}")
    if fold == ALL:
        return {}
    before, after = torch.load(HOME / f"{fold}.averaged"), network.state()
    results = {}
    for share in SHARES:
        mixed = {key: before[key] + share * (after[key] - before[key]) for key in after}
        network.restore(mixed)
        way = f"{name}*{share:g}" if share < 1 else name
        shares = damages_seen(network, fold, embedding)
        results[f"below {way}|{fold}"] = np.array(json.dumps(shares))
        results |= held_out(network, fold, way, ("SA", "MA"), shuffled=True)
    return results


def last_recipe(changes: dict[str, Any]) -> Recipe:
    """The last stage with changes: of its fields, and which damages are unknown."""
    recipe, changes = RECIPE.last, dict(changes)
    unknown = changes.pop("unknown", ())
    stages = tuple(replace(stage, **changes) for stage in recipe.stages)
    return replace(recipe, stages=stages, unknown_damages=unknown)


def student_recipe(changes: dict[str, Any]) -> Recipe:
    """The recipe of a student with changes: of its stage, and which layers it keeps."""
    recipe, changes = recipe_of("student"), dict(changes)
    layers = changes.pop("layers", recipe.layers)
    changes.pop("teacher", None)
    return replace(recipe, layers=layers, stages=(replace(recipe.stages[0], **changes),))


def teacher_of(student: str) -> str:
    """The way of the last stage that teaches a student: the first, unless it names another."""
    return str(STUDENTS[student].get("teacher", next(iter(LAST))))


def student(fold: str, name: str) -> dict[str, Any]:
    """A smaller network, which learns what the fold's own says together with similarity."""
    torch.set_num_threads(1)
    if f"below {name}|{fold}" in DONE or (HOME / f"{fold}.{name}").exists():
        return {}
    start = torch.load(HOME / f"{fold}.{teacher_of(name)}")
    teacher = CrossEncoder.start(ENCODER, RECIPE.max_length, SEED)
    teacher.to("cuda" if torch.cuda.is_available() else "cpu").restore(start)
    embedding = SentenceEncoder(ENCODER)

    def said(candidates: Any, references: Any) -> Any:
        own = teacher.predict(candidates, references)
        return own + RECIPE.similarity * cosines(candidates, references, embedding)

    network = train(
        FOLDS[fold][0],
        student_recipe(STUDENTS[name]),
        encoder=ENCODER,
        seed=SEED,
        start=start,
        teacher=said,
        elsewhere=[c for c in OTHERS if not texts_of(c) & HELD_OUT_TEXTS[fold]],
    ).network
    if fold == ALL:
        keep(network.state(), f"{ALL}.{name}")
        return {}
    shares = damages_seen(network, fold, None)
    return {
        f"below {name}|{fold}": np.array(json.dumps(shares)),
        **held_out(network, fold, name, ("SA", "MA"), shuffled=True),
    }


def texts_of(caption: JudgedCaption) -> set[str]:
    return {plain_form(text) for text in (caption.candidate, *caption.references)}


def damages_seen(network: Any, fold: str, embedding: Any) -> dict[str, list[float]]:
    """Of people's captions, changed in each way: the share below the original, and how many.

    The share is that of the network alone, with the mean of the references; a third number is that
    of the metric, with the references blended and with similarity, if there is an embedding.
    """
    texts = {c.item: list(c.references) for c in FOLDS[fold][1] if len(c.references) > 1}
    originals, references = take_out(texts, seed=1)
    chosen = random.Random(1).sample(sorted(originals), min(len(originals), 600))
    originals = {item: originals[item] for item in chosen}
    forms = [f"negation/{form}" for form in damage_forms("negation")]
    shares = {}
    for kind, cases in make_cases(originals, references, [*stress_kinds(), *forms], 1).items():
        cases = cases[:300]
        rows = [
            (getattr(case, which), reference)
            for which in ("original", "changed")
            for case in cases
            for reference in references[case.item]
        ]
        counts = np.array([len(references[case.item]) for case in cases] * 2)
        candidates, compared_with = [a for a, _ in rows], [b for _, b in rows]
        alone = network.predict(candidates, compared_with)
        whole = alone
        if embedding is not None:
            whole = alone + RECIPE.similarity * cosines(candidates, compared_with, embedding)
        below = [
            float(np.greater(*over_references(scores, counts, several).reshape(2, -1)).mean())
            for scores, several in ((alone, "mean"), (whole, "blend"))
        ]
        shares[kind] = [round(below[0], 3), len(cases), round(below[1], 3)]
    return shares


def plain(fold: str, name: str) -> dict[str, Any]:
    torch.set_num_threads(1)
    model = train(FOLDS[fold][0], recipe_of(name), encoder=ENCODER, seed=SEED)
    return held_out(model.network, fold, name, ("SA", "MA"), shuffled=name == "plain-ma")


def folds_of_2020(annotator: int) -> dict[str, Any]:
    """Table 5: five folds over the items of one year, one annotator's references or all (5)."""
    torch.set_num_threads(1)
    captions = [c for c in FOLDS["2020"][1] if c.kind == "MA" and not c.person]
    items = sorted({caption.item for caption in captions})
    place = {
        item: int(k)
        for item, k in zip(items, np.random.default_rng(SEED).permutation(len(items)), strict=True)
    }
    scores = np.full((len(captions), 5), np.nan)
    for k in range(5):
        chosen = slice(None) if annotator == 5 else slice(annotator, annotator + 1)
        cut = [replace(c, references=c.references[chosen]) for c in captions]
        model = train(
            [c for c in cut if place[c.item] % 5 != k],
            recipe_of("plain-ma"),
            encoder=ENCODER,
            seed=SEED,
        )
        for row, caption in enumerate(cut):
            if place[caption.item] % 5 == k:
                texts = caption.references
                scores[row, : len(texts)] = model.network.predict(
                    [caption.candidate] * len(texts), texts
                )
    return {f"table5|{annotator}": scores.astype(np.float32)}


def held_out(
    network: Any, fold: str, name: str, kinds: tuple[str, ...], shuffled: bool = False
) -> dict[str, Any]:
    scores = {}
    for kind in kinds:
        captions = [c for c in FOLDS[fold][1] if c.kind == kind]
        scores[f"{name}|{kind}-{fold}"] = against_each(network, captions)
        if shuffled and kind == "MA":
            rng = np.random.default_rng(SEED)
            mixed = [
                replace(c, candidate=" ".join(rng.permutation(c.candidate.split())))
                for c in captions
            ]
            scores[f"{name}-shuffled|{kind}-{fold}"] = against_each(network, mixed)
    return scores


def against_each(network: Any, captions: list[JudgedCaption]) -> Any:
    pairs = [(c.candidate, text) for c in captions for text in c.references]
    return network.predict([a for a, _ in pairs], [b for _, b in pairs]).astype(np.float32)


def named_changes(way: str) -> tuple[str, dict[str, Any]]:
    """Read NAME:KEY=VALUE;…"""
    name, _, changes = way.partition(":")
    pairs = [change.split("=", 1) for change in changes.split(";") if change]
    return name, {key: ast.literal_eval(value) for key, value in pairs}


def main() -> None:
    global ENCODER, HOME, RECIPE, SEED
    parser = argparse.ArgumentParser()
    for name in ("judged", "encoder", "out"):
        parser.add_argument(name)
    parser.add_argument("--only", action="store_true", help="the shipped recipe alone")
    parser.add_argument("--recipe", default=RECIPE.name, choices=["averaged", "careful"])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--without", choices=PARTS, action="append", default=[])
    parser.add_argument("--members", type=int, default=RECIPE.members)
    parser.add_argument("--elsewhere", help="captions of another kind")
    parser.add_argument(
        "--last",
        action="append",
        default=[],
        metavar="NAME[@YEAR]:KEY=VALUE;…",
        help="a way to train the last stage, for all years or one; those for all years are also "
        "trained on all years together",
    )
    parser.add_argument(
        "--student",
        action="append",
        default=[],
        metavar="NAME[@YEAR]:KEY=VALUE;…",
        help="a way to train a smaller network, for all years or one; its teacher is the first "
        "way of the last stage, or teacher='NAME'",
    )
    parser.add_argument(
        "--share",
        type=float,
        action="append",
        default=[],
        help="also test weights that go this share of the way of the last stage",
    )
    parser.add_argument("--home", help="keep all weights here; the same call again goes on")
    parser.add_argument("--folds", help="the years to hold out, if not all", nargs="+")
    parser.add_argument("--no-final", action="store_true", help="held-out years alone")
    parser.add_argument("--every", type=int, default=1, help="take every n-th caption, as a trial")
    options = parser.parse_args()
    ENCODER, SEED, out = options.encoder, options.seed, options.out
    RECIPE = replace(recipe_of(options.recipe), members=options.members)
    LAST.update(map(named_changes, options.last or ["bertha:"]))
    STUDENTS.update(map(named_changes, options.student))
    SHARES.extend(options.share)
    OTHERS.extend(read_captions(options.elsewhere) if options.elsewhere else [])
    for part in options.without:
        RECIPE = without(RECIPE, part)
    for changes in LAST.values():
        last_recipe(changes)  # complains now about a key that there is not
    for changes in STUDENTS.values():
        student_recipe(changes)
    Path(out).mkdir(parents=True, exist_ok=True)
    HOME = Path(options.home or tempfile.mkdtemp())
    HOME.mkdir(parents=True, exist_ok=True)
    captions = read_captions(options.judged)[:: options.every]
    groups = options.folds or sorted({caption.group for caption in captions})
    for group in groups:
        split = hold_out(captions, group)
        print(group, split.overlap, f"{time.time() - START:.0f} s", flush=True)
        FOLDS[group] = split.training, split.held_out
        HELD_OUT_TEXTS[group] = {text for c in split.held_out for text in texts_of(c)}
    FOLDS[ALL], HELD_OUT_TEXTS[ALL] = (captions, []), set()
    before = Path(out) / "predictions.npz"
    results: dict[str, Any] = dict(np.load(before)) if options.home and before.exists() else {}
    DONE.update(results)
    # fork: the children share the captions; nothing here has touched the GPU yet
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
        running: dict[Future[Any], tuple[Any, ...]] = {}

        def start(function: Any, *arguments: Any) -> None:
            running[pool.submit(tidily, function, *arguments)] = (function.__name__, *arguments)

        for fold in groups if options.no_final else (ALL, *groups):
            start(shared, fold)
        for group in groups if not options.only else ():
            start(plain, group, "plain-sa")
            start(plain, group, "plain-ma")
        done: dict[Any, int] = {}
        failed = 0
        pending_tables = [5, 0, 1, 2, 3, 4] if not options.only else []
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name, *arguments = running.pop(future)
                print(f"{time.time() - START:6.0f} s", name, *arguments, flush=True)
                try:
                    results.update(future.result() or {})
                except Exception:
                    traceback.print_exc()
                    failed += 1
                    continue
                if name == "shared":
                    for k in range(RECIPE.members):
                        start(member, arguments[0], k + 1)
                elif name == "member":
                    fold = arguments[0]
                    done[fold] = done.get(fold, 0) + 1
                    if done[fold] == RECIPE.members:
                        start(averaged, fold)
                elif name == "averaged":
                    fold = arguments[0]
                    ways = ways_of(LAST if RECIPE.last.stages else {}, fold)
                    for way in ways:
                        start(last, fold, way)
                elif name == "last":
                    fold, way = arguments
                    if fold == ALL:
                        first = way == next(iter(LAST))
                        store_final(Path(out), "weights" if first else f"weights-{way}", way)
                    for each in ways_of(STUDENTS, fold):
                        if teacher_of(each) == way:
                            start(student, fold, each)
                    if pending_tables:
                        start(folds_of_2020, pending_tables.pop(0))
                elif name == "student" and arguments[0] == ALL:
                    store_final(Path(out), f"student-{arguments[1]}", arguments[1])
                np.savez_compressed(Path(out) / "predictions.npz", **results)
            report(results)
    print(f"done {time.time() - START:.0f} s", flush=True)
    if failed:
        sys.exit(f"{failed} parts failed; what they said is above.")


def tidily(function: Any, *arguments: Any) -> Any:
    """Do a part of the work, and give back the GPU's memory, which the others need."""
    try:
        return function(*arguments)
    finally:
        torch.cuda.empty_cache()


def ways_of(ways: dict[str, Any], fold: str) -> list[str]:
    """The ways that a fold is trained in."""
    return [way for way in ways if "@" not in way or way.endswith(f"@{fold}")]


def store_final(out: Path, name: str, way: str) -> None:
    """Write weights in half precision, in parts that are small enough to send.

    A student's embeddings are its teacher's: they are left out.
    """
    from safetensors.torch import save

    state = torch.load(HOME / f"{ALL}.{way}")
    if name.startswith("student"):
        state = {key: value for key, value in state.items() if ".embeddings." not in key}
    data = save({key: value.half() for key, value in state.items()})
    size = 15_500_000
    for k in range(0, len(data), size):
        (out / f"{name}.{k // size}").write_bytes(data[k : k + size])


REPORTED: set[str] = set()


def report(results: dict[str, Any]) -> None:
    for key, scores in results.items():
        if "|MA-" in key and key not in REPORTED and key[-4:] in FOLDS:
            REPORTED.add(key)
            captions = [c for c in FOLDS[key[-4:]][1] if c.kind == "MA"]
            begins = np.concatenate([[0], np.cumsum([len(c.references) for c in captions])[:-1]])
            means = np.add.reduceat(scores, begins) / [len(c.references) for c in captions]
            keep = np.array([not c.person for c in captions])
            r = np.corrcoef(means[keep], np.array([c.score for c in captions])[keep])[0, 1]
            print(f"    {key:28} r = {r:.4f}", flush=True)


if __name__ == "__main__":
    main()
