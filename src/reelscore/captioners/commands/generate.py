"""``reelscore caption generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reelscore.captioners.commands.options import (
    check_output,
    device_option,
    finish,
    output_option,
    read_label_scores,
    record_option,
)
from reelscore.captioners.features import Features, read_features
from reelscore.captioners.run_record import Run
from reelscore.cli.options import choice_option, number_option, seed_option


@click.command("generate")
@click.argument("models", nargs=-1, required=True, metavar="MODEL/...")
@click.option(
    "--labels",
    required=True,
    multiple=True,
    metavar="TEST",
    help="Label scores of the items to caption, such as LABELS/test.safetensors, which LABELS/ "
    "stands for; one for all models, or one for each.",
)
@output_option
@number_option("--beam", default=1, least=1, help="Sentences kept at each step; 1 is greedy.")
@choice_option(
    "--weights",
    choices=["best", "last"],
    default="best",
    help="The weights that were best on validation, or the last ones.",
)
@device_option
@seed_option
@record_option
def command(
    models: tuple[str, ...],
    labels: tuple[str, ...],
    output: str,
    beam: int,
    weights: Any,
    device: str,
    seed: int,
    json_file: str | None,
) -> None:
    """Write captions with a trained model; several models decide together.

    With several models the mean of their word distributions is taken at each
    step.

    \b
    Examples:
      reelscore caption generate model --labels labels/test.safetensors -o out.json
      reelscore caption generate model_0 model_1 model_2 \\
        --labels labels/test.safetensors -o ensemble.json
    """
    from reelscore.captioners.captioner import Captioner

    check_output(output, json_file)
    run = Run()
    captioner = Captioner.ensemble(models, weights=weights, device=device)
    scores = [_scores(path) for path in labels]
    captions = captioner.generate(scores[0] if len(scores) == 1 else scores, beam=beam)
    record = run.record(
        captioner.signature(beam),
        seed=seed,
        data={"labels": "+".join(own.hash for own in scores)},
        libraries=["torch"],
        models=[str(own["signature"]) for own in captioner.records],
        weights=weights,
    )
    finish(output, captions, record, json_file=json_file)


def _scores(path: str) -> Features:
    """Read label scores; of the folder of labels, those of test items."""
    if Path(path, "labels.json").is_file():
        return read_label_scores(path, "test")
    return read_features(path)
