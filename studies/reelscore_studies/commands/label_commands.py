"""``reelscore caption labels`` and ``caption words``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click

from reelscore.captioners.commands.caption_options import record_option
from reelscore.captioners.run_record import Run, captions_hash
from reelscore.cli.file_options import FilesCommand, FilesOption, read_texts, reading_options
from reelscore.cli.options import (
    SettingsOption,
    choice_option,
    number_option,
    seed_option,
    threads_option,
    unnamed,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    show_grid,
    show_notes,
    show_signature,
    write_json,
)
from reelscore.data.checks import counted
from reelscore.data.reading import Reading
from reelscore.data.source import read_lines
from reelscore.errors import DataError, about_system
from reelscore.report.tables.grid import Cell, Grid
from reelscore_studies.baselines.clip_features import Features, MissingItems, Pool, read_features
from reelscore_studies.baselines.labels.caption_words import GROUPS, LabelKind
from reelscore_studies.baselines.labels.caption_words import labels as caption_words
from reelscore_studies.baselines.labels.classifiers import (
    LabelParameters,
    TrainedLabel,
    check_widths,
)
from reelscore_studies.baselines.labels.label_set import Labels, check_folder, choose_auc
from reelscore_studies.baselines.labels.visual_labels import GROUP_NAMES
from reelscore_studies.commands.baseline_options import (
    device_option,
    missing_option,
    pool_option,
    read_captions_of,
    someone_option,
)
from reelscore_studies.tuple_files import read_tuples

F = TypeVar("F", bound=Callable[..., Any])


def _split_options(split: str, title: str) -> Callable[[F], F]:
    """Options that name the captions, tuples and features of a split."""
    before = "" if split == "train" else f"{split}-"
    name = "" if split == "train" else f"{split}_"

    def decorate(function: F) -> F:
        options = [
            click.option(
                f"--{before}captions",
                f"{name}captions",
                cls=FilesOption,
                required=True,
                help=f"Captions of {title} items: one file or several.",
            ),
            click.option(
                f"--{before}tuples",
                f"{name}tuples",
                required=True,
                metavar="FILE",
                help=f"Tuples of {title} items: JSON lines, as of 'parse --format tuples'.",
            ),
            _features_option(f"--{before}features", f"{name}features", title, required=True),
        ]
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _features_option(spelling: str, name: str, title: str, **fields: Any) -> Callable[[F], F]:
    return click.option(
        spelling,
        name,
        multiple=True,
        metavar="NAME=PATH",
        help=f"Features of {title} items; may be repeated.",
        **fields,
    )


@click.command("labels", cls=FilesCommand)
@_split_options("train", "training")
@_split_options("val", "validation")
@_features_option("--test-features", "test_features", "test")
@click.option(
    "--group",
    "groups",
    multiple=True,
    required=True,
    metavar="GROUP=NAME",
    help=f"Features of a group ({', '.join(GROUP_NAMES)}); several: NAME+NAME.",
)
@someone_option
@click.option("--places", metavar="FILE", help="Scene classes, one a line.")
@click.option("--objects", metavar="FILE", help="Classes of an object detector, one a line.")
@click.option("--output", "-o", required=True, metavar="LABELS/", help="The folder to make.")
@click.option(
    "--recipe",
    cls=SettingsOption,
    start=unnamed(LabelParameters),
    without=["missing", "seed"],
    metavar="KEY:VALUE",
    help="How classifiers are trained and filtered:",
)
@click.option(
    "--auc-grid",
    metavar="LIST",
    help="Choose the AUC among values such as .5,.6,.7,.8, by the validation METEOR of a "
    "network that is trained with the labels that each leaves.",
)
@number_option("--grid-iterations", default=2000, least=10, help="Iterations of these networks.")
@device_option
@choice_option(
    "--kind", choices=["text", "sense"], default="text", help="Which tuples: words or senses."
)
@pool_option
@missing_option
@reading_options()
@threads_option
@seed_option
@record_option
def command(
    captions: tuple[str, ...],
    tuples: str,
    features: tuple[str, ...],
    val_captions: tuple[str, ...],
    val_tuples: str,
    val_features: tuple[str, ...],
    test_features: tuple[str, ...],
    groups: tuple[str, ...],
    places: str | None,
    objects: str | None,
    output: str,
    auc_grid: str | None,
    grid_iterations: int,
    device: str,
    kind: Any,
    pool: Pool,
    reading: Reading,
    threads: int | None,
    recipe: LabelParameters,
    missing: MissingItems,
    seed: int,
    json_file: str | None,
) -> None:
    """Train, filter and apply classifiers of visual labels.

    Labels are verbs, places and objects of the captions. Each gets a linear
    SVM on the features of its group; those that cannot be seen are dropped,
    by their AUC on validation. The folder holds the scores of all items,
    which 'reelscore caption train' learns to describe.

    \b
    Example:
      reelscore caption labels --captions train.json --tuples train.jsonl \\
        --features idt=idt.h5 --features places=places.npz \\
        --val-captions val.json --val-tuples val.jsonl \\
        --val-features idt=idt_val.h5 --val-features places=places_val.npz \\
        --group verbs=idt --group places=places -o labels
    """
    check_folder(Path(output))
    check_targets(json_file)
    run = Run()
    grid = _numbers(auc_grid) if auc_grid else []
    recipe = replace(recipe, auc=min(grid) if grid else recipe.auc, missing=missing, seed=seed)
    training = read_captions_of(captions, reading)
    validation = read_captions_of(val_captions, reading)
    numbers = {
        "train": _read(features, pool),
        "val": _read(val_features, pool),
        "test": _read(test_features, pool),
    }
    roles = {"train": read_tuples(tuples, kind), "val": read_tuples(val_tuples, kind)}
    classes: dict[str, Any] = {"places": read_lines(places), "objects": read_lines(objects)}
    named = _named(groups, "GROUP=NAME")
    if numbers["test"]:
        check_widths(numbers["train"], numbers["test"], named)
    with about_system(output), progress_bar("Training classifiers") as progress:
        labels = Labels.train(
            training,
            roles["train"],
            numbers["train"],
            validation=(validation, roles["val"], numbers["val"]),
            groups=named,
            **classes,
            threads=threads,
            device=device,
            progress=progress,
            **asdict(recipe),
        )
    reached: dict[float, float] = {}
    if grid:
        labels, reached = choose_auc(
            labels,
            grid,
            lambda own: _meteor(own, training, validation, grid_iterations, device),
        )
    with about_system(output):
        test = labels.scores(numbers["test"]) if numbers["test"] else None
    data = {"captions": captions_hash(training), "val_captions": captions_hash(validation)} | {
        f"{split}_{name}": own.hash for split, all_ in numbers.items() for name, own in all_.items()
    }
    signature = labels.signature(data="+".join(list(data.values())[:2]))
    record = run.record(
        signature,
        seed=labels.parameters.seed,
        data=data,
        libraries=["scikit-learn", "scipy"],
        auc_grid={f"{auc:g}": meteor for auc, meteor in reached.items()},
    )
    labels.write(output, test=test, record=record)
    if json_file:
        write_json(json_file, record)
    if json_file != STDOUT:
        _show(labels)
        for auc, meteor in reached.items():
            click.echo(f"AUC {auc:g}: METEOR {100 * meteor:.2f} on validation.")
        click.echo(f"Wrote the scores of {counted(len(labels.kept), 'label')} to {output}.")
        show_signature(signature)


def _numbers(text: str) -> list[float]:
    """Read the values of --auc-grid."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or not all(0 <= value <= 1 for value in values):
        raise DataError(
            f"--auc-grid is {text!r}; expected numbers from 0 to 1, such as .5,.6,.7,.8."
        )
    return values


def _meteor(
    labels: Labels,
    training: Mapping[str, Sequence[str]],
    validation: Mapping[str, Sequence[str]],
    iterations: int,
    device: str,
) -> float:
    """Return the best validation METEOR of a network that is trained with some labels."""
    from reelscore_studies.baselines.networks.captioner import Captioner
    from reelscore_studies.baselines.networks.training_run import TrainingSettings

    settings = TrainingSettings.of(
        iterations=iterations,
        every=max(1, iterations // 8),
        seed=labels.parameters.seed,
        device=device,
    )
    how = labels.parameters.missing
    with TemporaryDirectory() as folder:
        model = Captioner.train(labels, training, validation, folder, settings, missing=how)
    return float(model.records[0]["best"]["meteor"])


def _show(labels: Labels) -> None:
    """Print for each group how many labels were kept, how many not and why, and the best."""
    rows = []
    for group, feature in labels.groups.items():
        own = [label for label in labels.labels if label.group == group]
        kept = sorted((label for label in own if label.kept), key=lambda label: -(label.auc or 0))
        unmeasured = sum(label.auc is None for label in own)
        counts = [len(own), len(kept), len(own) - len(kept) - unmeasured, unmeasured]
        cells = [group, feature, *map(str, counts), ", ".join(map(_example, kept[:2]))]
        rows.append([Cell(text) for text in cells])
    heading = ["group", "features", "labels", "kept", "low AUC", "too few", "best (AUC, n₊)"]
    show_grid(Grid(heading, rows))


def _example(label: TrainedLabel) -> str:
    auc = "–" if label.auc is None else f"{label.auc:.2f}"
    return f"{label.name} ({auc}, {label.validation_positives})"


def _named(values: Sequence[str], form: str) -> dict[str, str]:
    """Divide values such as NAME=PATH."""
    named: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            raise DataError(f"{value!r} is not of the form {form}.")
        if name in named:
            raise DataError(f"{name!r} is named twice; name it once.")
        named[name] = rest
    return named


def _read(values: Sequence[str], pool: Pool) -> Mapping[str, Features]:
    named = _named(values, "NAME=PATH")
    return {name: read_features(path, pool=pool) for name, path in named.items()}


@click.command("words", cls=FilesCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@reading_options("--input-format")
@number_option("--minimum", default=30, least=1, help="In how many items a label must occur.")
@click.option(
    "--groups", default=",".join(GROUPS), show_default=True, metavar="LIST", help="Of which groups."
)
@choice_option("--kind", choices=["text", "sense"], default="text", help="Words or senses.")
@click.option("--places", metavar="FILE", help="Words that are places, one a line.")
@click.option("--objects", metavar="FILE", help="Words that are objects, one a line.")
def words(
    files: tuple[str, ...],
    reading: Reading,
    minimum: int,
    groups: str,
    kind: LabelKind,
    places: str | None,
    objects: str | None,
) -> None:
    """Find frequent verbs, objects and places in captions, as JSON: labels for captioners.

    \b
    Example:
      reelscore caption words captions.json --minimum 30
    """
    captions, notes = read_texts(files, reading)
    show_notes(notes, err=True)
    table = caption_words(
        captions,
        kind=kind,
        minimum=minimum,
        groups=[group.strip() for group in groups.split(",")],
        places=read_lines(places),
        objects=read_lines(objects),
    )
    write_json(STDOUT, table.to_dict())
