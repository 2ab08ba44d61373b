"""``reelscore corpus split``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import click

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import file_option, json_option, seed_option
from reelscore.cli.terminal import check_targets, progress_bar, write_json
from reelscore.corpus.commands.options import (
    again_option,
    deliver,
    loose_clips,
    project_option,
    show_grid,
)
from reelscore.corpus.duplicates import SameFilm, same_films
from reelscore.corpus.project import Film, Project
from reelscore.corpus.results import origin
from reelscore.corpus.splits import RATIOS, SETS, split, works
from reelscore.corpus.stages import make_stage, stage_inputs, stage_result
from reelscore.errors import DataError


@click.command("split")
@project_option
@click.option(
    "--clips",
    "clip_files",
    multiple=True,
    metavar="FILE",
    help="Without a project: what 'assemble' wrote. Repeatable.",
)
@click.option(
    "--ratios",
    default=" ".join(map(str, RATIOS)),
    show_default=True,
    metavar="NUMBERS",
    help="Shares of clips: training, validation, public test, blind test.",
)
@click.option("--by-genre", is_flag=True, help="Make the genres of every set like the whole.")
@click.option(
    "--fix", "fixes", multiple=True, metavar="FILM=SET", help="Put a film into a set. Repeatable."
)
@click.option(
    "--by-title", is_flag=True, help="Tell same films by title and year alone, not by their sound."
)
@seed_option
@again_option
@file_option("--out", "Without a project: the file to write.")
@json_option
def command(
    project: str,
    clip_files: tuple[str, ...],
    ratios: str,
    by_genre: bool,
    fixes: tuple[str, ...],
    by_title: bool,
    seed: int,
    again: bool,
    out_file: str | None,
    json_file: str | None,
) -> None:
    """Divide films into training, validation, public test and blind test: splits.json.

    A film is in one set as a whole, and so are films with the same title and year, or with the
    same sound. Clips from scripts are in training alone; those of films in other sets are left out.

    \b
    Examples:
      reelscore corpus split --project films --by-genre
      reelscore corpus split --ratios "8 1 1 0" --fix sintel=public-test
      reelscore corpus split --clips clips.json --out splits.json
    """
    check_targets(out_file, json_file)
    shares, fixed = _numbers(ratios), _pairs(fixes)
    parameters = {
        "ratios": shares,
        "by_genre": by_genre,
        "fix": fixed,
        "by_title": by_title,
        "seed": seed,
    }
    if clip_files:
        clips, _ = loose_clips(clip_files)
        films = {clip["film"]: Film(clip["film"]) for clip in clips}
        made = origin("split", parameters, {path: path for path in clip_files})
        result = {**made, **_split(films, clips, parameters, lambda _: ([], []))}
        deliver(result, out_file, json_file)
        _show(result)
        return
    if out_file:
        raise DataError("--out is for work without a project; name --clips.")
    opened = Project.open(project)
    clips = stage_result(opened, "assemble")["clips"]

    def by_sound(films: list[str]) -> tuple[list[SameFilm], list[str]]:
        if by_title:
            return [], []
        with progress_bar("Comparing films") as progress:
            return same_films(opened, films, progress)

    result, is_new = make_stage(
        opened,
        "split",
        parameters,
        stage_inputs(opened, "split"),
        lambda: _split(opened.films, clips, parameters, by_sound),
        again=again,
    )
    if not is_new:
        say("The films are already divided; --again does it again.")
    _show(result)
    if json_file:
        write_json(json_file, result)


def _show(result: Mapping[str, Any]) -> None:
    rows = [
        [name, str(row["films"]), str(row["clips"]), f"{row['share']:.3f}", f"{row['target']:.3f}"]
        for name, row in result["reached"].items()
    ]
    show_grid(["set", "films", "clips", "share", "target"], rows)
    for pair in result["same_sound"]:
        say(f"{' and '.join(pair['films'])} are the same film by their sound")
    if result["not_compared"]:
        say(f"not compared by sound, since there is no file: {', '.join(result['not_compared'])}")
    if result["left_out"]:
        say(f"{result['left_out']} clips from scripts are left out, since they are for training")


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise DataError(f"--ratios {text!r}: expected four numbers, such as '8 1 1 0'.") from None


def _pairs(fixes: tuple[str, ...]) -> dict[str, str]:
    for fix in fixes:
        if "=" not in fix:
            raise DataError(f"--fix {fix!r}: expected FILM=SET, such as sintel=training.")
    return {film: name for film, _, name in (fix.partition("=") for fix in fixes)}


def _split(
    films: Mapping[str, Film],
    clips: list[dict[str, Any]],
    parameters: Mapping[str, Any],
    by_sound: Callable[[list[str]], tuple[list[SameFilm], list[str]]],
) -> dict[str, Any]:
    pairs, not_compared = by_sound(list(dict.fromkeys(clip["film"] for clip in clips)))
    groups = works(
        films.values(),
        [(clip["film"], clip["origin"]) for clip in clips],
        [pair.films for pair in pairs],
    )
    sets = split(
        groups,
        ratios=parameters["ratios"],
        by_genre=parameters["by_genre"],
        seed=parameters["seed"],
        fixed=parameters["fix"],
    )
    placed = {
        clip["id"]: sets[clip["film"]]
        for clip in clips
        if clip["origin"] == "ad" or sets[clip["film"]] == SETS[0]
    }
    of_clips, of_films = Counter(placed.values()), Counter(sets.values())
    total = sum(parameters["ratios"])
    return {
        "films": sets,
        "clips": placed,
        "left_out": len(clips) - len(placed),
        "same_sound": [asdict(pair) for pair in pairs],
        "not_compared": not_compared,
        "reached": {
            name: {
                "films": of_films[name],
                "clips": of_clips[name],
                "share": round(of_clips[name] / len(placed), 4),
                "target": round(ratio / total, 4),
                "genres": dict(Counter(films[each].genre for each in sets if sets[each] == name)),
            }
            for name, ratio in zip(SETS, parameters["ratios"], strict=True)
        },
    }
