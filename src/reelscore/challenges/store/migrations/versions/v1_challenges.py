"""The first tables: challenges, teams, submissions, jobs, results and the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_APPEND_ONLY = (
    *("challenge_grant", "challenge_refusal", "challenge_result", "challenge_array"),
    *("challenge_shown", "challenge_event", "challenge_blob"),
)


def upgrade() -> None:
    """Make the tables."""
    _plan_tables()
    _team_tables()
    _scoring_tables()
    _other_tables()
    forbid = {"sqlite": _forbid_in_sqlite, "postgresql": _forbid_in_postgresql}
    for table in _APPEND_ONLY:
        forbid[op.get_bind().dialect.name](table)


def _plan_tables() -> None:
    op.create_table(
        "challenge_blob",
        sa.Column("digest", sa.Text, primary_key=True),
        _integer("size"),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "challenge",
        _key(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        _text("name"),
        _text("state"),
        _text("definition"),
        _text("digest"),
        _text("pages"),
        _time("created"),
        sa.CheckConstraint(
            "state IN ('draft', 'open', 'closed', 'archived')", name="challenge_state"
        ),
    )
    op.create_table(
        "challenge_split",
        _key(),
        _to("challenge", "challenge.key"),
        _text("id"),
        _text("visibility"),
        _text("kind"),
        _blob("items_blob"),
        _blob("references_blob"),
        _text("digest"),
        _integer("count"),
        sa.CheckConstraint("kind IN ('captions', 'stories')", name="challenge_split_kind"),
        sa.UniqueConstraint("challenge", "id", name="challenge_split_once"),
        sa.CheckConstraint("visibility IN ('public', 'blind')", name="challenge_split_visibility"),
    )
    op.create_table(
        "challenge_phase",
        _key(),
        _to("challenge", "challenge.key"),
        _text("id"),
        _integer("position"),
        _time("opens"),
        _time("closes"),
        _time("reveals", nullable=True),
        _integer("priority"),
        _text("settings"),
        _integer("generation"),
        sa.UniqueConstraint("challenge", "id", name="challenge_phase_once"),
    )
    op.create_table(
        "challenge_phase_split",
        sa.Column("phase", _NUMBER, sa.ForeignKey("challenge_phase.key"), primary_key=True),
        sa.Column("split", _NUMBER, sa.ForeignKey("challenge_split.key"), primary_key=True),
        _integer("position"),
        _text("feedback"),
        _text("step"),
        sa.CheckConstraint(
            "feedback IN ('full', 'rounded', 'ladder', 'reveal')",
            name="challenge_phase_split_feedback",
        ),
    )


def _team_tables() -> None:
    op.create_table(
        "challenge_team",
        _key(),
        _to("challenge", "challenge.key"),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        _text("name"),
        _text("skeleton"),
        _text("kind"),
        _text("state"),
        _to("merged_into", "challenge_team.key", nullable=True),
        sa.Column("approved", sa.Boolean, nullable=False),
        sa.Column("members_shown", sa.Boolean, nullable=False),
        _time("created"),
        sa.CheckConstraint(
            "kind IN ('team', 'organisers', 'baseline')", name="challenge_team_kind"
        ),
        sa.UniqueConstraint("challenge", "skeleton", name="challenge_team_once"),
        sa.CheckConstraint(
            "state IN ('active', 'merged', 'disqualified')", name="challenge_team_state"
        ),
    )
    op.create_table(
        "challenge_member",
        _key(),
        _to("challenge", "challenge.key"),
        _to("team", "challenge_team.key"),
        sa.Column("account", _NUMBER),
        _text("role"),
        _text("state"),
        _text("invitation"),
        _time("since"),
        sa.CheckConstraint("role IN ('captain', 'member')", name="challenge_member_role"),
        sa.CheckConstraint("state IN ('invited', 'active', 'left')", name="challenge_member_state"),
    )
    _once(
        "challenge_member_one_team",
        "challenge_member",
        ["challenge", "account"],
        "state = 'active'",
    )
    op.create_table(
        "challenge_submission",
        _key(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        _to("phase", "challenge_phase.key"),
        _to("team", "challenge_team.key"),
        sa.Column("account", _NUMBER),
        _integer("number"),
        _time("arrived"),
        _time("received"),
        _text("file_name"),
        _blob("upload_blob"),
        _blob("captions_blob"),
        _text("content"),
        _text("method"),
        _text("description"),
        _text("link"),
        _text("idempotency"),
        sa.Column("late", sa.Boolean, nullable=False),
        _text("status"),
        sa.Column("chosen", sa.Boolean, nullable=False),
        sa.UniqueConstraint("team", "phase", "number", name="challenge_submission_once"),
        sa.CheckConstraint(
            "status IN ('active', 'withdrawn', 'disqualified')", name="challenge_submission_status"
        ),
    )
    op.create_index("challenge_submission_content", "challenge_submission", ["phase", "content"])
    _once(
        "challenge_submission_idempotency",
        "challenge_submission",
        ["team", "idempotency"],
        "idempotency <> ''",
    )
    op.create_table(
        "challenge_charge",
        _key(),
        sa.Column(
            "submission",
            _NUMBER,
            sa.ForeignKey("challenge_submission.key"),
            nullable=False,
            unique=True,
        ),
        _to("team", "challenge_team.key"),
        _to("phase", "challenge_phase.key"),
        _text("day"),
        _time("refunded", nullable=True),
        _text("reason"),
    )
    op.create_index("challenge_charge_by_team", "challenge_charge", ["team", "phase"])
    op.create_table(
        "challenge_grant",
        _key(),
        _to("team", "challenge_team.key"),
        _to("phase", "challenge_phase.key"),
        _time("time"),
        _text("day"),
        _integer("amount"),
        _text("actor"),
        _text("reason"),
    )
    op.create_index("challenge_grant_by_team", "challenge_grant", ["team", "phase"])
    op.create_table(
        "challenge_refusal",
        _key(),
        _to("team", "challenge_team.key"),
        _to("phase", "challenge_phase.key"),
        _time("time"),
        _text("digest"),
        _text("report"),
    )
    op.create_index("challenge_refusal_by_team", "challenge_refusal", ["team", "phase", "time"])


def _scoring_tables() -> None:
    op.create_table(
        "challenge_job",
        _key(),
        _to("submission", "challenge_submission.key"),
        _integer("generation"),
        _text("state"),
        _integer("claims"),
        _integer("faults"),
        _text("needs"),
        _time("not_before"),
        _text("lease"),
        _time("leased_until", nullable=True),
        _text("worker"),
        _text("reason"),
        _time("queued"),
        _time("finished", nullable=True),
        sa.UniqueConstraint("submission", "generation", name="challenge_job_once"),
        sa.CheckConstraint(
            "state IN ('queued', 'scoring', 'scored', 'failed', 'cancelled')",
            name="challenge_job_state",
        ),
    )
    op.create_index("challenge_job_next", "challenge_job", ["state", "not_before"])
    op.create_table(
        "challenge_result",
        _key(),
        _to("job", "challenge_job.key"),
        _to("split", "challenge_split.key"),
        _text("score"),
        _integer("position"),
        sa.Column("value", sa.Double, nullable=False),
        sa.Column("low", sa.Double),
        sa.Column("high", sa.Double),
        _text("signature"),
        sa.UniqueConstraint("job", "split", "score", name="challenge_result_once"),
    )
    op.create_table(
        "challenge_array",
        _key(),
        _to("job", "challenge_job.key"),
        _to("split", "challenge_split.key"),
        _text("kind"),
        _text("names"),
        _blob("blob"),
        sa.CheckConstraint("kind IN ('items', 'statistics', 'draws')", name="challenge_array_kind"),
        sa.UniqueConstraint("job", "split", "kind", name="challenge_array_once"),
    )
    op.create_table(
        "challenge_shown",
        _key(),
        _to("team", "challenge_team.key"),
        _to("phase", "challenge_phase.key"),
        _to("split", "challenge_split.key"),
        _to("submission", "challenge_submission.key"),
        _integer("generation"),
        _time("time"),
        _text("told"),
        sa.UniqueConstraint("submission", "split", "generation", name="challenge_shown_once"),
    )
    op.create_table(
        "challenge_worker",
        sa.Column("id", sa.Text, primary_key=True),
        _text("version"),
        _text("capabilities"),
        _integer("scorers"),
        _time("seen"),
    )


def _other_tables() -> None:
    op.create_table(
        "challenge_board",
        _key(),
        _to("challenge", "challenge.key"),
        _text("board"),
        _integer("generation"),
        _text("digest"),
        _text("content"),
        _time("made"),
        sa.UniqueConstraint(
            "challenge", "board", "generation", "digest", name="challenge_board_once"
        ),
    )
    op.create_table(
        "challenge_human",
        _key(),
        _to("phase", "challenge_phase.key"),
        _text("id"),
        _text("campaign"),
        _text("entries"),
        _text("disclosed"),
        _text("results"),
        _time("made"),
        _time("published", nullable=True),
        sa.UniqueConstraint("phase", "id", name="challenge_human_once"),
    )
    op.create_table(
        "challenge_token",
        _key(),
        sa.Column("account", _NUMBER, nullable=False),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        _text("name"),
        _text("scopes"),
        _time("created"),
        _time("expires"),
        _text("used"),
        _time("revoked", nullable=True),
    )
    op.create_index("challenge_token_by_account", "challenge_token", ["account"])
    op.create_table(
        "challenge_event",
        _key(),
        _to("challenge", "challenge.key", nullable=True),
        _time("time"),
        _text("actor"),
        _text("what"),
        _text("about"),
        _text("reason"),
        _text("before"),
        _text("after"),
        _text("chain"),
    )
    op.create_index("challenge_event_about", "challenge_event", ["challenge", "about"])


def _key() -> sa.Column[int]:
    return sa.Column("key", _NUMBER, primary_key=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _integer(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=nullable)


def _to(name: str, target: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, _NUMBER, sa.ForeignKey(target), nullable=nullable)


def _blob(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, sa.ForeignKey("challenge_blob.digest"), nullable=False)


def _once(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(
        name, table, columns, unique=True, sqlite_where=condition, postgresql_where=condition
    )


def _forbid_in_sqlite(table: str) -> None:
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, 'rows of {table} are never changed or removed'); END"
        )


def _forbid_in_postgresql(table: str) -> None:
    op.execute(
        f"CREATE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'rows of {table} are never changed or removed'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_is_append_only()"
    )
