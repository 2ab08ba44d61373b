"""``reelscore bertha``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
from reelscore.cli.main import Group
from reelscore.cli.options import Command, SettingsOption, json_option, number_option
from reelscore.cli.table_options import People, human_option
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    resumable,
    show_line,
    show_notes,
    terminal_width,
    write_json,
)
from reelscore.data.reading import Reading
from reelscore.learned.training.recipes import Recipe, Stage, recipe_of


@click.group("bertha", cls=Group)
def command() -> None:
    """Train, evaluate and describe BERTHA, the metric learned from human judgments."""


_seed_option = number_option("--seed", default=0, least=0, help="Random seed.")
_encoder_option = click.option(
    "--encoder",
    default="all-minilm-l6-v2",
    show_default=True,
    metavar="NAME",
    help="Encoder to start from: a folder, or a name, which transformers may download. The default "
    "is MiniLM, six layers of 384; the paper's is BERT-base, twelve of 768.",
)
_recipe_option = click.option(
    "--recipe",
    cls=SettingsOption,
    start=lambda name: recipe_of(name or "own"),
    without=[each.name for each in fields(Recipe) if each.name not in ("validation", "patience")],
    help="own: for any judgments; careful: as the shipped model; averaged: that, without damaged "
    "captions; plain: as the paper, plain-sa and plain-ma on one kind of judgments alone (with "
    "--encoder FOLDER of BERT-base); student: four layers of six, taught by another model.",
)


@command.command("prepare", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@refs_option("References of the captions", required=True)
@human_option(required=True)
@click.option(
    "--group", default="own", show_default=True, help="Name of the group held out together."
)
@click.option(
    *("--output", "-o", "out"), required=True, metavar="FILE", help="The file to write, .jsonl."
)
@reading_options()
def prepare(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    human: People,
    group: str,
    out: str,
    reading: Reading,
) -> None:
    """Combine captions, references and human scores into training data.

    \b
    Example:
      reelscore bertha prepare systems/*.json -r refs.json --human human.csv -o own.jsonl
    """
    from reelscore.learned.judged_captions import check_captions, from_tables, write_captions

    check_targets(out)
    table = human.read()
    score = table.metrics[0]
    judged = {name: row[score] for name, row in table.results.items() if score in row}
    scores = {name: result.items.to_dict() for name, result in judged.items()}
    ratings = {name: result.ratings for name, result in judged.items()}
    inputs = read_captions(candidates, refs, reading)
    assert inputs.references is not None
    show_notes(inputs.notes, err=True)
    captions = from_tables(inputs.systems, inputs.references, scores, group=group, ratings=ratings)
    check_captions(captions)
    write_captions(out, captions)
    scored = sum(caption.score is not None for caption in captions)
    click.echo(f"{out}: {len(captions):,} captions, {scored:,} of them judged.")


@command.command("train", cls=Command)
@click.argument("captions", metavar="JUDGED")
@click.argument("out", metavar="FOLDER")
@_recipe_option
@click.option(
    "--teacher",
    default="reelscore-bertha",
    show_default=True,
    metavar="MODEL",
    help="The model that a student learns from.",
)
@click.option(
    "--elsewhere",
    metavar="FILE",
    help="Captions of another kind, as JUDGED but without scores; for careful and student.",
)
@_encoder_option
@click.option("--hold-out", metavar="GROUP", help="Leave out a group and all its texts.")
@click.option(
    "--keep", is_flag=True, help="With --hold-out: keep the model for 'bertha|held_out:GROUP'."
)
@_seed_option
@click.option("--device", type=click.Choice(["cuda", "cpu"]), help="Where to train; a GPU if any.")
@number_option(
    "--every", default=500, least=1, metavar="STEPS", help="Steps between two checkpoints."
)
def train(
    captions: str,
    out: str,
    recipe: Recipe,
    elsewhere: str | None,
    encoder: str,
    hold_out: str | None,
    keep: bool,
    **options: Any,
) -> None:
    """Train a model on JUDGED captions; FOLDER gets checkpoints and the model.

    To resume an interrupted training, call the command again with the same arguments.

    \b
    Examples:
      reelscore bertha train judged.jsonl run --recipe careful --hold-out 2020
      reelscore score mine.json -r refs.json -m 'bertha|model:run/model'
    """
    from reelscore.learned.judged_captions import read_captions
    from reelscore.learned.model_files import keep_held_out
    from reelscore.learned.model_text import agreement_text
    from reelscore.learned.training.fit import fit_model

    if keep and hold_out is None:
        raise click.UsageError("--keep is for a model with a group held out; add --hold-out.")
    _show_encoder(recipe.name, encoder)
    with resumable(out), progress_bar("Training") as progress:
        info = fit_model(
            read_captions(captions),
            recipe,
            out,
            encoder=encoder,
            elsewhere=read_captions(elsewhere) if elsewhere else (),
            held_out=hold_out,
            progress=progress,
            validated=_show_validation,
            **options,
        )
    click.echo(f"{Path(out) / 'model'}: revision {info.revision}")
    if agreement := agreement_text(info, terminal_width()):
        click.echo(f"\n{agreement}")
    if keep and hold_out is not None:
        click.echo(f"bertha|held_out:{hold_out} is {keep_held_out(Path(out) / 'model', hold_out)}")


@command.command("evaluate", cls=Command)
@click.argument("captions", metavar="JUDGED")
@number_option("--folds", default=5, least=2, help="Train once without each fold.")
@_recipe_option
@_encoder_option
@click.option("--only", metavar="CAMPAIGN", help="One campaign, by kind and group, as MA-2020.")
@_seed_option
@json_option
def evaluate(
    captions: str,
    folds: int,
    recipe: Recipe,
    encoder: str,
    only: str | None,
    seed: int,
    json_file: str | None,
) -> None:
    """Measure how BERTHA agrees with people, on JUDGED captions (see 'prepare').

    A model is trained without each fold of the videos and tested on it.

    \b
    Example:
      reelscore bertha evaluate judged.jsonl --folds 5 --recipe plain-ma --only MA-2020
    """
    from reelscore.errors import check_choice
    from reelscore.learned.judged_captions import read_captions
    from reelscore.learned.training.examples import campaigns_of
    from reelscore.learned.training.folds import cross_validate, fold_grid

    check_targets(json_file)
    judged = read_captions(captions)
    if only is not None:
        check_choice("campaign", only, campaigns_of(judged))
        judged = [caption for caption in judged if caption.campaign == only]
    _show_encoder(recipe.name, encoder)
    with progress_bar("Folds") as progress:
        done = cross_validate(judged, recipe, folds, seed=seed, encoder=encoder, progress=progress)
    if json_file:
        write_json(json_file, {"recipe": recipe.name, "folds": [fold._asdict() for fold in done]})
    if json_file != STDOUT:
        click.echo(fold_grid(done).to_text(terminal_width()))


def _show_encoder(recipe: str, encoder: str) -> None:
    """Print that a recipe of the paper begins with a smaller encoder than the paper's."""
    from reelscore.learned.networks.encoders import DEFAULT_ENCODER

    if recipe.startswith("plain") and encoder == DEFAULT_ENCODER:
        show_line(
            "The recipe is the paper's, the encoder is not: MiniLM (six layers of 384) for "
            "BERT-base (twelve of 768). Give the paper's by --encoder FOLDER."
        )


@command.command("info")
@click.argument("model", default="reelscore-bertha", metavar="[MODEL]")
@click.option(
    "--export", metavar="FOLDER", help="Write encoder and head in float32, for transformers."
)
@json_option
def info(model: str, export: str | None, json_file: str | None) -> None:
    """Show what a model was trained on, what computes it here, and how it agrees with people.

    \b
    Examples:
      reelscore bertha info
      reelscore bertha info reelscore-bertha --export exported
    """
    from reelscore.learned.model_files import export_model, read_info
    from reelscore.learned.model_text import model_text
    from reelscore.learned.networks.pair_scores import engine

    check_targets(json_file)
    model_info = read_info(model)
    if json_file:
        write_json(json_file, asdict(model_info))
    if json_file != STDOUT:
        click.echo(model_text(model_info, terminal_width()))
        click.echo(f"\nOn this machine it is computed by {engine(model_info)}.")
    for path in export_model(model, export) if export else ():
        click.echo(f"Wrote {path}.", err=True)


def _show_validation(stage: Stage, reached: Sequence[float]) -> None:
    """Print what an epoch reached, and whether it is the best of its stage so far."""
    best = ", the best so far" if reached[-1] == max(reached) else ""
    what = " ".join([stage.source, *stage.kinds])
    show_line(f"{what}, epoch {len(reached)}: r = {reached[-1]:.3f} with people{best}", err=False)
