"""``reelscore caption translate``."""

from __future__ import annotations

from dataclasses import asdict

import click

from reelscore.captioners.commands.caption_options import check_output, output_option, record_option
from reelscore.captioners.run_record import Run, captions_hash
from reelscore.cli.file_options import FilesCommand, FilesOption, reading_options
from reelscore.cli.options import SettingsOption, seed_option, threads_option, unnamed
from reelscore.cli.terminal import progress_bar
from reelscore.data.reading import Reading
from reelscore_studies.baselines.clip_features import MissingItems, common_items
from reelscore_studies.commands.baseline_options import (
    captions_option,
    finish,
    missing_option,
    read_captions_of,
    read_label_scores,
)
from reelscore_studies.translation.translation import TranslationParameters, Translator
from reelscore_studies.tuple_files import read_tuples


@click.command("translate", cls=FilesCommand)
@captions_option
@click.option("--tuples", required=True, metavar="FILE", help="Tuples of the training captions.")
@click.option(
    "--labels",
    required=True,
    metavar="LABELS/",
    help="Label scores of train, val and test, as 'reelscore caption labels' writes them.",
)
@click.option(
    "--val-refs",
    cls=FilesOption,
    required=True,
    help="References of the validation items, which choose the weights.",
)
@output_option
@click.option(
    "--recipe",
    cls=SettingsOption,
    start=unnamed(TranslationParameters),
    metavar="KEY:VALUE",
    help="How captions are made:",
)
@missing_option
@threads_option
@reading_options()
@seed_option
@record_option
def command(
    captions: tuple[str, ...],
    tuples: str,
    labels: str,
    val_refs: tuple[str, ...],
    output: str,
    missing: MissingItems,
    threads: int | None,
    reading: Reading,
    seed: int,
    json_file: str | None,
    recipe: TranslationParameters,
) -> None:
    """Find who does what and where, then translate it into a sentence.

    A random field chooses subject, verb, object and location from the scores of
    visual labels; phrases learned from the training captions say them.

    \b
    Example:
      reelscore caption translate --captions train.json --tuples train.jsonl \\
        --labels labels --val-refs val.json -o smt.json
    """
    check_output(output, json_file)
    run = Run()
    training = read_captions_of(captions, reading)
    references = read_captions_of(val_refs, reading)
    scores = {name: read_label_scores(labels, name) for name in ("train", "val", "test")}
    for name, texts in (("train", training), ("val", references)):
        items = common_items(texts, scores[name].items, missing, "label scores")
        scores[name] = scores[name].take(items)
    training = {item: training[item] for item in scores["train"].items}
    references = {item: references[item] for item in scores["val"].items}
    with progress_bar("Choosing weights") as progress:
        translator = Translator.train(
            training, read_tuples(tuples, recipe.kind), scores["train"], recipe
        ).tuned(scores["val"], references, threads=threads, progress=progress)
    sentences, unknown = translator.generate(scores["test"])
    data = {"captions": captions_hash(training), "refs": captions_hash(references)}
    data |= {f"labels_{name}": own.hash for name, own in scores.items()}
    weights = translator.decoder.weights
    record = run.record(
        recipe.signature(
            labels=scores["train"].matrix.shape[1],
            missing=missing,
            seed=seed,
            data="+".join(data.values()),
        ),
        seed=seed,
        data=data,
        libraries=["sklearn-crfsuite", "nltk"],
        weights=asdict(weights),
        grid=[tried._asdict() for tried in translator.tried],
        unknown_labels=unknown,
    )
    best = max(translator.tried, key=lambda tried: tried.meteor)
    lines = [
        f"Weights: word {weights.word:g}, language model {weights.language:g}; METEOR "
        f"{100 * best.meteor:.2f} on {len(references):,} validation items, the best of "
        f"{len(translator.tried)}."
    ]
    if unknown:
        lines.append(f"{sum(unknown.values()):,} labels could not be said and were left out.")
    finish(output, sentences, record, lines, json_file)
