"""A campaign on Mechanical Turk's own pages: a page with variables, its HITs as CSV, and back.

The page shows one row of the CSV at a time, and posts one field. Neither holds a system, an item
or a kind: when the results come back, the campaign itself knows what was shown.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from jinja2 import Environment

from reelscore.data.source import Source
from reelscore.errors import DataError
from reelscore.human.imports.times import seconds
from reelscore.human.judgments import Judgment
from reelscore.human.protocol import Protocol
from reelscore.human.tasks import Hit
from reelscore.web.pages import Pages

_MOST = 55_000  # bytes of a HIT; Mechanical Turk takes 65,535 with the page
_LONGEST = 1 << 20  # bytes of a line of results
_answers = msgspec.json.Decoder(list[dict[str, list[float]]])


def hits_csv(hits: Iterable[Hit], pages: Pages) -> str:
    """Write a row for each HIT: its id, and what it shows, in letters that no page can break.

    Raises:
        DataError: If a HIT is larger than Mechanical Turk takes.

    >>> from reelscore.human.tasks import Shown, Task
    >>> hit = Hit("h1", (Task("t1", "v1", (Shown("mine", "a dog"),)),))
    >>> line = hits_csv([hit], Pages(video_url="https://lab.example/{item}.mp4")).split()[1]
    >>> base64.b64decode(line.partition(",")[2]).decode()
    '[{"video":"https://lab.example/v1.mp4","context":"","captions":["a dog"]}]'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["hit", "tasks"])
    for hit in hits:
        shown = [
            {
                "video": pages.address_of(task.item),
                "context": pages.contexts.get(task.item, ""),
                "captions": [each.text for each in task.shown],
            }
            for task in hit.tasks
        ]
        packed = base64.b64encode(msgspec.json.encode(shown)).decode()
        if len(packed) > _MOST:
            raise DataError(
                f"HIT {hit.id!r} takes {len(packed):,} bytes; Mechanical Turk takes {_MOST:,}. "
                "Make a campaign with smaller HITs."
            )
        writer.writerow([hit.id, packed])
    return out.getvalue()


def page_html(templates: Environment, protocol: Protocol, pages: Pages) -> str:
    """Write the page to be pasted into Mechanical Turk's editor."""
    return templates.get_template("mturk.html").render(
        protocol=protocol, pages=pages, parts=pages.instructions_for(protocol)
    )


def read_results(path: str, hits: Iterable[Hit], protocol: Protocol) -> Iterator[Judgment]:
    """Read the results that Mechanical Turk gives for download.

    Args:
        path: The CSV file.
        hits: The campaign's HITs.
        protocol: What was asked.

    Raises:
        DataError: If the file is not of this campaign, or an answer cannot be.
    """
    known = {hit.id: hit for hit in hits}
    with Source(path) as source:
        text = (line.decode("utf-8", "replace") for _, line in source.lines(_LONGEST))
        rows = csv.DictReader(text)
        try:
            for row in rows:
                yield from _judgments(row, known, protocol, f"{path}:{rows.line_num}")
        except csv.Error as error:
            raise DataError(f"{path}:{rows.line_num}: malformed table ({error}).") from None


def _judgments(
    row: Mapping[str, str], known: Mapping[str, Hit], protocol: Protocol, where: str
) -> Iterator[Judgment]:
    missing = {"WorkerId", "Input.hit", "Answer.answers"} - set(row)
    if missing:
        raise DataError(f"{where}: no column {', '.join(sorted(missing))}; are these its results?")
    hit = known.get(row["Input.hit"])
    if hit is None:
        raise DataError(f"{where}: the campaign has no HIT {row['Input.hit']!r}.")
    try:
        answers = _answers.decode(row["Answer.answers"])
    except msgspec.MsgspecError:
        raise DataError(f"{where}: the answers cannot be read.") from None
    if len(answers) != len(hit.tasks):
        raise DataError(f"{where}: {len(answers)} answers; the HIT has {len(hit.tasks)} tasks.")
    worked = row.get("WorkTimeInSeconds") or ""
    for position, (task, answer) in enumerate(zip(hit.tasks, answers, strict=True)):
        protocol.check(answer, len(task.shown))
        for criterion, scores in answer.items():
            for slot, score in enumerate(scores):
                beside = task.shown[1].system if protocol.form == "comparison" else ""
                yield Judgment(
                    rater=row["WorkerId"],
                    hit=hit.id,
                    task=task.id,
                    position=position,
                    system=task.shown[slot].system,
                    item=task.item,
                    kind=task.shown[slot].kind,
                    score=score,
                    criterion=criterion,
                    against=beside,
                    started=seconds(row.get("AcceptTime") or ""),
                    submitted=seconds(row.get("SubmitTime") or ""),
                    seconds=float(worked) if worked.isdigit() else None,
                    client="mturk",
                    status=(row.get("AssignmentStatus") or "").lower(),
                )
