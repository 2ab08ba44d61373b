"""What a trained model is, in words: for ``reelscore bertha info``."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from typing import Any

from reelscore.learned.model_files import Facts, ModelInfo
from reelscore.report.tables.grid import Cell, Grid

# What a stage learns from, by its source.
_SOURCES = {
    "similarity": "similarity of captions, as a sentence encoder has it",
    "people": "people's captions of the same video and of others",
    "judgments": "people's judgments",
    "anchors": "damaged captions beside whole ones, and anchors",
    "teacher": "what its teacher says of captions and of damaged ones",
}
_KINDS = {"SA": "of captions judged once (SA)", "MA": "of captions judged often (MA)"}


def model_text(info: ModelInfo, width: int = 80) -> str:
    """Describe a model: what it is, what it learned from, and how it agrees with people."""
    training = dict(info.training)
    paragraphs = [_what(info), *_data(training), *_recipe(training)]
    text = [textwrap.fill(each, width, break_on_hyphens=False) for each in paragraphs]
    lines = _stages(training, width)
    rest = [
        textwrap.fill(f"{name}: {_plain(value)}", width, subsequent_indent="  ")
        for name, value in training.items()
        if value not in (None, [], "")
    ]
    agreement = agreement_text(info, width)
    parts = [f"{info.name}, revision {info.revision}", *text, lines, "\n".join(rest), agreement]
    return "\n\n".join(part for part in parts if part)


def agreement_text(info: ModelInfo, width: int = 80) -> str:
    """Lay out how a model agrees with people on what it did not learn from; empty if not known."""
    groups = _groups(info.agreement)
    rows: dict[str, list[list[Cell]]] = {}
    for name, levels in info.agreement.items():
        if isinstance(levels, Mapping) and "caption level" in levels:
            for level, values in levels.items():
                rows.setdefault(level, []).append([Cell(name), *(Cell(f"{r:.3f}") for r in values)])
    if not rows:
        return ""
    held_out = info.agreement.get("held out")
    title = "Agreement with people (Pearson's r) on captions held out"
    heading = textwrap.fill(f"{title}: {held_out}" if held_out else title, width)
    grids = []
    for level, cells in rows.items():
        columns = max(map(len, cells)) - 1
        names = groups if len(groups) == columns else [""] * columns
        grids.append(Grid([level, *names], cells).to_text(width))
    return "\n\n".join([heading, *grids])


def _what(info: ModelInfo) -> str:
    text = (
        f"It reads a caption beside a reference, up to {info.max_length} tokens together, and "
        "predicts the score that people would give."
    )
    layers, size = info.encoder.get("num_hidden_layers"), info.encoder.get("hidden_size")
    text += f" The network has {layers} layers of {size} numbers." if layers else ""
    return text + (" The similarity of the texts' vectors counts too." if info.similarity else "")


def _data(training: Facts) -> list[str]:
    """Return what it learned from; takes what it says out of what is left to say."""
    captions, judged = training.pop("captions", None), training.pop("judged", None)
    data, held_out = training.pop("data", None), training.pop("held out", None)
    elsewhere = training.pop("elsewhere", 0)
    if captions is None:
        return []
    text = f"It learned from {captions:,} captions, {judged or 0:,} of them judged by people"
    text += f": {data}." if data else "."
    text += f" Captions of another kind, for the last stage: {elsewhere:,}." if elsewhere else ""
    return [text + (f" Held out: {held_out!r} and all its texts." if held_out else "")]


def _recipe(training: Facts) -> list[str]:
    recipe = _fields(training.get("recipe", ""))
    start, seed, steps = (training.pop(name, None) for name in ("start", "seed", "steps"))
    if not recipe or start is None:
        return []
    text = f"It started from {start} and was trained by the recipe {recipe['name']!r}"
    text += f", random seed {seed}" if seed is not None else ""
    text += f", in {steps:,} steps" if steps else ""
    if recipe.get("members", 1) > 1:
        whole = all(stage["source"] != "anchors" for stage in recipe["stages"])
        text += f"; {'the weights' if whole else 'those before the last stage'} are the mean of "
        text += f"{recipe['members']} trainings"
    if not recipe.get("validation"):
        return [text + ". The stages:"]
    reached = training.pop("validation", [])
    text += f". {recipe['validation']:.0%} of the items were kept for validation"
    if reached:
        text += f" (r = {', '.join(f'{r:.3f}' for r in reached)} after each epoch)"
    return [text + ". The stages:"]


def _stages(training: Facts, width: int) -> str:
    recipe = _fields(training.pop("recipe", ""))
    lines = []
    for number, stage in enumerate(recipe.get("stages", ()), start=1):
        kinds = " and ".join(_KINDS.get(kind, kind) for kind in stage["kinds"])
        what = " ".join(filter(None, [_SOURCES.get(stage["source"], stage["source"]), kinds]))
        epochs = f"{stage['epochs']:g} epoch" + ("" if stage["epochs"] == 1 else "s")
        line = f"{number}. {what}: {epochs}, learning rate {stage['rate']:g}, "
        line += f"{stage['batch']} captions a step"
        lines.append(textwrap.fill(line, width, initial_indent="  ", subsequent_indent="     "))
    return "\n".join(lines)


def _fields(text: str) -> Facts:
    """Read the printed form of a recipe; nothing where it is not one."""
    try:
        return dict(_value(ast.parse(text, mode="eval").body))
    except (SyntaxError, ValueError, TypeError):
        return {}


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        return {str(each.arg): _value(each.value) for each in node.keywords}
    if isinstance(node, ast.Tuple):
        return [_value(each) for each in node.elts]
    return ast.literal_eval(node)


def _groups(agreement: Facts) -> list[str]:
    """Return the groups held out in turn: the columns of the correlations."""
    overlap = agreement.get("overlap", {})
    return [name for name, counts in overlap.items() if isinstance(counts, Mapping)]


def _plain(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
