"""What a scored job leaves: results, arrays, and what its team is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select

from reelscore.challenges.boards.ladder import Step, Told, tell
from reelscore.challenges.challenge import split_rows
from reelscore.challenges.definition.reader import parsed_definition
from reelscore.challenges.definition.records import Definition, ScoringSettings
from reelscore.challenges.people.teams import own_keys
from reelscore.challenges.store.blobs import put_blob
from reelscore.challenges.store.kept_scores import ScoredSplit, score_form
from reelscore.challenges.store.results import scores_of, told_from
from reelscore.challenges.store.tables import (
    TableRow,
    array,
    challenge,
    job,
    phase,
    result,
    shown,
    submission,
)
from reelscore.errors import DataError


class OtherSignature(DataError):
    """Scores that were made in another way than the others of their generation."""


@dataclass(frozen=True)
class Claim:
    """A job that somebody may score now."""

    job: int  # its key
    lease: str  # the token that proves it
    submission: str  # the public id of the submission
    phase: int  # the key of its phase
    generation: int  # the job's generation
    settings: ScoringSettings  # how to score it
    captions: bytes  # what to score, as `reelscore.challenges.uploads.uploads` made it
    splits: Sequence[tuple[int, str, str]]  # key, id and digest of each split


def put_scores(connection: Connection, key: int, split_key: int, scored: ScoredSplit) -> None:
    """Keep the scores and arrays of a job on one split."""
    for position, (name, score) in enumerate(scored.scores.items()):
        connection.execute(
            insert(result).values(
                job=key,
                split=split_key,
                score=name,
                position=position,
                signature=score.signature,
                **score_form(score),
            )
        )
    for kind, (names, content) in scored.arrays.items():
        connection.execute(
            insert(array).values(
                job=key,
                split=split_key,
                kind=kind,
                names=json.dumps(list(names)),
                blob=put_blob(connection, content),
            )
        )


def check_signatures(
    connection: Connection, own: Claim, split_key: int, scored: ScoredSplit
) -> None:
    """Refuse scores that were made otherwise than the others of their generation."""
    rows = connection.execute(
        select(result.c.score, result.c.signature)
        .select_from(result.join(job).join(submission))
        .where(
            submission.c.phase == own.phase,
            job.c.generation == own.generation,
            result.c.split == split_key,
        )
        .limit(len(scored.scores))
    ).all()
    others = {row.score: row.signature for row in rows}
    for name, own_score in scored.scores.items():
        signature = own_score.signature
        if others.get(name, signature) != signature:
            raise OtherSignature(
                f"{name} has the signature {signature}, other submissions of this generation "
                f"{others[name]}; score it where those were scored, or score all again: "
                "reelscore challenge rescore."
            )


def tell_team(
    connection: Connection,
    own: Claim,
    row: TableRow,
    split_key: int,
    split_id: str,
    scored: ScoredSplit,
    now: int,
) -> None:
    """Decide what the team is told of a split, and keep that."""
    of_phase = select(challenge.c.definition, phase.c.id).where(phase.c.key == own.phase)
    joined = of_phase.join(phase, phase.c.challenge == challenge.c.key)
    text, phase_id = connection.execute(joined).one()
    definition = parsed_definition(text)
    rule = next(each for each in split_rows(connection, own.phase) if each.key == split_key)
    scores = scored.scores
    boards = definition.boards_of(phase_id, split_id)
    primary = boards[0].primary if boards else next(iter(scores), "")
    step: Step = "auto" if rule.step == "auto" else float(rule.step) if rule.step else None
    sign = _sign(definition, split_id, primary)
    told = tell(
        rule.feedback,
        own.submission,
        scores,
        primary=primary,
        sign=sign,
        step=step,
        before=_told_before(connection, own, row, split_key, primary, sign),
    )
    connection.execute(
        insert(shown).values(
            team=row.team,
            phase=own.phase,
            split=split_key,
            submission=row.key,
            generation=own.generation,
            time=now,
            told=json.dumps(None if told is None else told.to_dict()),
        )
    )


def _sign(definition: Definition, split_id: str, primary: str) -> int:
    scales = definition.scoring.scales(definition.split(split_id).kind)
    return scales[primary].sign or 1 if primary in scales else 1


def _told_before(
    connection: Connection, own: Claim, row: TableRow, split_key: int, primary: str, sign: int
) -> Told | None:
    """Return the best that the team, and any that was merged with it.

    Was told in this generation.
    """
    last = (
        select(func.max(shown.c.key))
        .where(
            shown.c.team.in_(own_keys(connection, row.team)),
            shown.c.phase == own.phase,
            shown.c.split == split_key,
            shown.c.generation == own.generation,
        )
        .group_by(shown.c.team)
    )
    texts = connection.scalars(select(shown.c.told).where(shown.c.key.in_(last)))
    known = [told for text in texts if (told := json.loads(text)) and primary in told["scores"]]
    told = max(known, key=lambda told: sign * told["scores"][primary]["value"], default=None)
    if told is None:
        return None
    keys = (
        select(job.c.key)
        .select_from(job.join(submission))
        .where(submission.c.id == told["submission"], job.c.generation == own.generation)
    )
    [scored] = scores_of(connection, split_key, connection.scalars(keys).all(), drawn=True).values()
    return told_from(told).of_results(scored)


def version_of(connection: Connection, phase_key: int, generation: int) -> str:
    """Return the version that the scores of a generation were made with, or ""."""
    signature = connection.scalar(
        select(result.c.signature)
        .select_from(result.join(job).join(submission))
        .where(submission.c.phase == phase_key, job.c.generation == generation)
        .limit(1)
    )
    parts = dict(part.partition(":")[::2] for part in (signature or "").split("|"))
    return str(parts.get("v", ""))
