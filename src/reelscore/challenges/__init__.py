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

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
