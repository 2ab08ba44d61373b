"""``reelscore corpus split``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from reelscore.cli.campaign.options import say
from reelscore.cli.corpus.options import again_option, project_option, show_grid
from reelscore.cli.option_kinds import json_option, seed_option
from reelscore.cli.options import check_targets, progress_bar, write_json
from reelscore.corpus.duplicates import SameFilm, same_films
from reelscore.corpus.project import Project
from reelscore.corpus.splits import RATIOS, SETS, split, works
from reelscore.corpus.stages import make_stage, stage_inputs, stage_result
from reelscore.errors import DataError


@click.command("split")
@project_option
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
@json_option
def command(
    project: str,
    ratios: str,
    by_genre: bool,
    fixes: tuple[str, ...],
    by_title: bool,
    seed: int,
    again: bool,
    json_file: str | None,
) -> None:
    """Divide films into training, validation, public test and blind test: splits.json.

    A film is in one set as a whole, and so are films with the same title and year, or with the
    same sound. Clips from scripts are in training alone; those of films in other sets are left out.

    \b
    Examples:
      reelscore corpus split --project films --by-genre
      reelscore corpus split --ratios "8 1 1 0" --fix sintel=public-test
    """
    check_targets(json_file)
    opened = Project.open(project)
    shares, fixed = _numbers(ratios), _pairs(fixes)
    clips = stage_result(opened, "assemble")["clips"]
    parameters = {
        "ratios": shares,
        "by_genre": by_genre,
        "fix": fixed,
        "by_title": by_title,
        "seed": seed,
    }
    result, is_new = make_stage(
        opened,
        "split",
        parameters,
        stage_inputs(opened, "split"),
        lambda: _split(opened, clips, parameters),
        again=again,
    )
    if not is_new:
        say("The films are already divided; --again does it again.")
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
    if json_file:
        write_json(json_file, result)


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
    project: Project, clips: list[dict[str, Any]], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    with_clips = list(dict.fromkeys(clip["film"] for clip in clips))
    pairs: list[SameFilm] = []
    not_compared: list[str] = []
    if not parameters["by_title"]:
        with progress_bar("Comparing films") as progress:
            pairs, not_compared = same_films(project, with_clips, progress)
    groups = works(
        project.films.values(),
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
    counts, films = Counter(placed.values()), Counter(sets.values())
    total = sum(parameters["ratios"])
    genres = {film_id: project.film(film_id).genre for film_id in sets}
    return {
        "films": sets,
        "clips": placed,
        "left_out": len(clips) - len(placed),
        "same_sound": [asdict(pair) for pair in pairs],
        "not_compared": not_compared,
        "reached": {
            name: {
                "films": films[name],
                "clips": counts[name],
                "share": round(counts[name] / len(placed), 4),
                "target": round(ratio / total, 4),
                "genres": dict(Counter(genres[film] for film in sets if sets[film] == name)),
            }
            for name, ratio in zip(SETS, parameters["ratios"], strict=True)
        },
    }
