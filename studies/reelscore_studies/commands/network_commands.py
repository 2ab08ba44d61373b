"""``reelscore caption train`` and ``generate``: networks that describe label scores."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reelscore.captioners.commands.caption_options import check_output, output_option, record_option
from reelscore.captioners.run_record import Run
from reelscore.cli.file_options import FilesCommand, FilesOption, reading_options
from reelscore.cli.options import (
    SettingsOption,
    choice_option,
    json_option,
    number_option,
    seed_option,
    threads_option,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    resumable,
    show_line,
    show_signature,
    write_json,
)
from reelscore.data.reading import Reading
from reelscore_studies.baselines.clip_features import Features, MissingItems, read_features
from reelscore_studies.baselines.networks.training_run import NetworkRecipe
from reelscore_studies.commands.baseline_options import (
    captions_option,
    device_option,
    finish,
    missing_option,
    read_captions_of,
    read_label_scores,
)

if TYPE_CHECKING:
    from reelscore_studies.baselines.networks.training_run import Measured


@click.command("train", cls=FilesCommand)
@click.argument("labels", metavar="LABELS/")
@captions_option
@click.option(
    "--val-refs",
    cls=FilesOption,
    required=True,
    help="References of the validation items: one file or several, up to the next option.",
)
@click.option("--output", "-o", required=True, metavar="MODEL/", help="The folder of the model.")
@click.option(
    "--recipe",
    cls=SettingsOption,
    start=lambda name: NetworkRecipe.of(name or "adam"),
    known=["adam", "paper"],
    without=["opt"],
    help="How the network is made and trained: with adam, or paper: gradient descent with momentum "
    "0.9, rate 0.01 halved every 4,000 iterations.",
)
@number_option("--seed", default=0, least=0, help="Random seed.")
@missing_option
@device_option
@threads_option
@click.option("--tensorboard", metavar="DIR", help="Log loss and METEOR for TensorBoard.")
@reading_options()
@json_option
def train(
    labels: str,
    captions: tuple[str, ...],
    val_refs: tuple[str, ...],
    output: str,
    recipe: NetworkRecipe,
    seed: int,
    missing: MissingItems,
    device: str,
    threads: int | None,
    tensorboard: str | None,
    reading: Reading,
    json_file: str | None,
) -> None:
    """Train a network that describes label scores; MODEL/ gets its weights.

    It stops on METEOR, not on the loss: validation captions are written and
    scored again and again, and the best weights are kept. To resume a training
    that was interrupted, call the command again with the same arguments.

    \b
    Example:
      reelscore caption train labels --captions train.json --val-refs val.json \\
        -o model --seed 0
    """
    from reelscore_studies.baselines.networks.captioner import Captioner
    from reelscore_studies.baselines.networks.training_run import TrainingSettings

    check_targets(json_file)
    training = read_captions_of(captions, reading)
    references = read_captions_of(val_refs, reading)
    scores = read_label_scores(labels, "train"), read_label_scores(labels, "val")
    with resumable(output), _logger(tensorboard) as log, progress_bar("Training") as progress:

        def say(measured: Measured) -> None:
            show_line(
                f"iteration {measured.iteration:,}: loss {measured.loss:.3f}, "
                f"METEOR {100 * measured.meteor:.2f}"
            )
            log(measured)

        settings = TrainingSettings(recipe, seed, device, threads, progress, say)
        captioner = Captioner.train(
            scores,
            training,
            references,
            output,
            settings,
            missing=missing,
            made_from=_made_by(labels),
        )
    record = dict(captioner.records[0])
    if json_file:
        write_json(json_file, record)
    if json_file != STDOUT:
        best = record["best"]
        click.echo(
            f"{output}: {captioner.networks[0].parameter_count():,} weights; best after "
            f"{best['iteration']:,} iterations: METEOR {100 * best['meteor']:.2f} on "
            f"{len(references):,} validation items."
        )
        show_signature(str(record["signature"]))


def _made_by(folder: str) -> str:
    """Return the signature of the labels, where it is known."""
    import json

    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads((Path(folder) / "labels.json").read_bytes())["signature"])
    return ""


@contextlib.contextmanager
def _logger(folder: str | None) -> Iterator[Callable[[Measured], None]]:
    if folder is None:
        yield lambda _: None
        return
    from reelscore.report.training_log import summary_writer

    opened = contextlib.ExitStack()
    kind = summary_writer()

    @cache  # made with the first measurement: it may be in the model's folder, which is empty first
    def writer() -> Any:
        made = kind(folder)
        opened.callback(made.close)
        return made

    def log(measured: Measured) -> None:
        writer().add_scalar("train/loss", measured.loss, measured.iteration)
        writer().add_scalar("val/meteor", measured.meteor, measured.iteration)

    with opened:
        yield log


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
def generate(
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
    from reelscore_studies.baselines.networks.captioner import Captioner

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
