"""Challenges: blind test sets, submissions, scores within seconds, leaderboards with intervals.

No page and no FastAPI here: `reelscore.web` and `reelscore.cli` call these modules.

- `definition`: what a challenge is; `definition_file`: read from its TOML file and checked;
  `definition_changes`: what another definition changes.
- `store`: the tables, blobs and the log (`store.tables.open_challenges` opens a database).
- `challenges`: make and update a challenge from its definition; look challenges up.
- `splits`: references into the database, and back out for scorers.
- `uploads`: an upload into captions, in a process that has no references.
- `teams`, `team_names`, `team_decisions`: teams, members, names that do not look alike, what
  organisers decide; `phase_invitations`: who may know of a phase that is not listed.
- `tokens`: by which programs act for an account; `remote`: a challenge on a server.
- `quota`: charges, grants, refunds, days of UTC; the clock of `arena` is the only source of time.
- `submissions`: one transaction for file, charge, job and event.
- `jobs`: the queue: claim, renew, sweep, finish, fail, run again, generations.
- `scorers`: one submission scored, in a process of its own; `workers` runs them.
- `showing`: who may see what; `views`: a challenge as somebody sees it, the way to all results,
  with `scopes` (the phases they may know of), `event_views` (the log) and `board_maker` (a board
  for one permission, and the boards that are kept).
- `boards`, `draws`, `ladder`, `awards`: from results to leaderboards and winners; `board_forms`
  writes them as text, CSV, JSON, LaTeX, part of a page or a picture.
- `human`: the final entries as a campaign; `human_verdicts`: what people say, as columns;
  `rater_rules`: who may not rate.
- `explorer`: the items of a public split, one by one, as a report.
- `exports`, `imports`, `verification`, `archive`: everything out and in again; every score
  computed again; a static site for the years after.
- `trecvid`: a year of TRECVid's video-to-text task as a challenge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.challenge.definition import Definition
    from reelscore.challenge.definition_file import parse_definition, read_definition
    from reelscore.challenge.store.tables import open_challenges

__all__ = [
    "Definition",
    "open_challenges",
    "parse_definition",
    "read_definition",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "challenge.definition": "Definition",
        "challenge.definition_file": "parse_definition read_definition",
        "challenge.store.tables": "open_challenges",
    },
)
