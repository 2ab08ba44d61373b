"""Challenges: blind test sets, submissions, scores within seconds, leaderboards with intervals.

A `Challenge` is found in a database by `challenge.Challenges`, made and changed by `updates`. What
anybody sees of one passes a `View` (`views`), which asks `permissions`.

- `definition`: what a challenge is, read from its TOML file and checked.
- `uploads`: an upload into captions, in a process that has no references; `submissions` keeps them,
  with file, charge, job and event in one transaction; `quota` says how many a team may send.
- `queue`: claim, score, keep; each submission is scored in a process of its own.
- `boards`: from results to leaderboards and winners, and these as text, CSV, JSON, LaTeX, a page.
- `people`: teams, invitations, tokens, and the final entries before people who judge them.
- `exchange`: everything out and in again, scores computed again, an archive, a remote server.
- `store`: the tables, blobs and the log.
- `pages`, `templates`, `static`, `commands`: what the server shows, and the command line.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
