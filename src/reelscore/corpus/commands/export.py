"""``reelscore corpus export``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import click

from reelscore.cli.messages import say
from reelscore.corpus.commands.options import loose_clips, project_option, show_grid
from reelscore.corpus.project import Project
from reelscore.corpus.release.challenge_files import PRIVATE, challenge_files
from reelscore.corpus.release.clip_files import FORMATS, ExportedClip, exported_clips, to_coco
from reelscore.corpus.release.film_sets import SETS
from reelscore.corpus.results import read_result
from reelscore.corpus.stages import STAGES, stage_result
from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError

BLIND = SETS[-1]


@click.command("export")
@project_option
@click.option(
    "--clips",
    "clip_files",
    multiple=True,
    metavar="FILE",
    help="Without a project: what 'assemble' wrote; names stay as they are. Repeatable.",
)
@click.option("--splits", metavar="FILE", help="Without a project: what 'split' wrote.")
@click.option("--out", "out_folder", required=True, metavar="FOLDER", help="Where files go.")
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(list(FORMATS)),
    default=["coco"],
    show_default=True,
    help="coco: references for 'reelscore score'; stories: for 'reelscore stories'. Repeatable.",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    type=click.Choice(SETS),
    help="Only this set; all but the blind test if not given. Repeatable.",
)
@click.option(
    "--blind",
    is_flag=True,
    help="Write the blind test too: its clips without sentences, and its references apart.",
)
@click.option(
    "--challenge",
    is_flag=True,
    help="Write a challenge on the public and the blind test, in a folder 'challenge'.",
)
@click.option(
    "--opens",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="With --challenge: the day on which it opens, such as 2026-06-01; today if not given.",
)
@click.option("--original", is_flag=True, help="Leave names as they are.")
def command(
    project: str,
    clip_files: tuple[str, ...],
    splits: str | None,
    out_folder: str,
    formats: tuple[str, ...],
    sets: tuple[str, ...],
    blind: bool,
    challenge: bool,
    opens: datetime | None,
    original: bool,
) -> None:
    """Write the clips of a project as files for scoring and training, a file for each set.

    Names are those of 'corpus anonymise', and sets those of 'corpus split'; without it all clips
    are in one file, all.json. With --blind, blind_clips.json has no sentences; its references are
    in blind_references.json, for the organisers alone. With --challenge, the folder 'challenge' has
    all that a challenge server needs: its definition, pages, references, and in 'participants' what
    everybody may have.

    \b
    Examples:
      reelscore corpus export --project films --out release --blind
      reelscore corpus export --out release --format stories --set public-test
      reelscore corpus export --out release --challenge --opens 2026-06-01
      reelscore corpus export --clips clips.json --splits splits.json --out release
    """
    name_of_corpus, clips, placed = _material(project, clip_files, splits, original)
    if placed is not None:
        wanted = sets or tuple(name for name in SETS if name != BLIND)
        groups = {name: [clip for clip in clips if placed.get(clip.id) == name] for name in wanted}
        hidden = [clip for clip in clips if placed.get(clip.id) == BLIND] if blind else []
    elif sets or blind or challenge:
        raise DataError("There are no sets yet; run 'reelscore corpus split' first.")
    else:
        groups, hidden = {"all": clips}, []
    if BLIND in groups:
        raise DataError("The blind test is written with --blind, so that its sentences stay apart.")
    files = {
        f"{name}{ending}": write(group, name=f"{name_of_corpus}, {name}")
        for name, group in groups.items()
        if group
        for ending, write in (FORMATS[each] for each in formats)
    }
    if blind:
        files |= _blind_files(name_of_corpus, hidden)
    if challenge and placed is not None:
        tests = ([clip for clip in clips if placed.get(clip.id) == name] for name in SETS[2:])
        day = opens.date() if opens else datetime.now(timezone.utc).date()
        made = challenge_files(name_of_corpus, *tests, opens=day)
        files |= {f"challenge/{name}": content for name, content in made.items()}
    elif opens:
        raise DataError("--opens is for --challenge.")
    if not files:
        raise DataError(f"There are no clips in {', '.join(groups)}.")
    folder = Path(out_folder)
    try:
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out_folder}: cannot be made ({error.strerror}).") from None
    for name, content in files.items():
        write_atomically(folder / name, content, private=Path(name).name == PRIVATE)
    _show({**groups, **({BLIND: hidden} if blind else {})})
    say(f"{', '.join(files)} in {out_folder}")


def _material(
    project: str, clip_files: tuple[str, ...], splits: str | None, original: bool
) -> tuple[str, list[ExportedClip], dict[str, str] | None]:
    """Read the name of the corpus, its clips, and the set of each where there are sets."""
    if clip_files:
        loose = loose_clips(clip_files)
        placed = None if splits is None else read_result(Path(splits)).get("clips")
        if splits is not None and not isinstance(placed, dict):
            raise DataError(f"{splits}: expected sets, as 'reelscore corpus split' writes them.")
        return Path(clip_files[0]).stem, exported_clips(*loose, None), placed
    if splits:
        raise DataError("--splits is for work without a project; name --clips.")
    opened = Project.open(project)
    assembled = stage_result(opened, "assemble")
    names = None if original else stage_result(opened, "anonymise")["films"]
    clips = exported_clips(assembled["clips"], assembled["sentences"], names)
    divided = (opened.folder / STAGES["split"]).is_file()
    return opened.name, clips, stage_result(opened, "split")["clips"] if divided else None


def _blind_files(corpus: str, clips: Sequence[ExportedClip]) -> dict[str, bytes]:
    if not clips:
        raise DataError("The blind test has no clips; see 'reelscore corpus split'.")
    name = f"{corpus}, {BLIND}"
    return {
        "blind_clips.json": to_coco(clips, name=name, with_sentences=False),
        PRIVATE: to_coco(clips, name=name),
    }


def _show(groups: dict[str, list[ExportedClip]]) -> None:
    show_grid(
        ["set", "films", "clips", "sentences"],
        [
            [
                name,
                str(len({clip.film for clip in group})),
                str(len(group)),
                str(sum(len(clip.sentences) for clip in group)),
            ]
            for name, group in groups.items()
        ],
    )
