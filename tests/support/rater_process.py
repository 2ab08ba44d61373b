"""One rater in a process of its own: claims HITs and answers them until there are none.

    python rater_process.py WHERE RATER LOG

Before an answer is sent it is noted in LOG, and when it is acknowledged that is noted too, each
time through to the disk: what the log calls acknowledged must be in the database, whatever happens
to this process. A rater who starts again sends the last answer noted once more.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path

from reelscore.campaigns.campaign import Campaign
from reelscore.errors import RefusedError

IDLE = 0.2  # seconds to wait where all HITs are held by others


def score_of(rater: str, task: str) -> float:
    """What a rater says to a task, always the same."""
    return float(hashlib.sha256(f"{rater} {task}".encode()).digest()[0] % 101)


def main(where: str, rater: str, log: Path) -> None:
    sent = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    with Campaign.open(where) as campaign, log.open("a") as file:

        def note(**what: object) -> None:
            file.write(json.dumps({"rater": rater, **what}) + "\n")
            file.flush()
            os.fsync(file.fileno())

        def send(assignment: int, hit: str, task: str) -> None:
            what = {"assignment": assignment, "hit": hit, "task": task}
            note(event="sent", **what)
            try:
                answer = {"adequacy": [score_of(rater, task)]}
                now = time.time()
                receipt = campaign.submit(
                    assignment, rater, task, answer, started=now - 1, submitted=now
                )
            except RefusedError as refused:
                note(event=refused.reason, **what)
                if refused.reason != "taken":
                    raise
            else:
                note(event="kept", new=receipt.new, **what)

        if sent:
            send(sent[-1]["assignment"], sent[-1]["hit"], sent[-1]["task"])
        while True:
            held = campaign.claim(rater)
            if held is None:
                status = campaign.status()
                if status.open + status.held == 0:
                    return
                time.sleep(IDLE)
                continue
            for task in held.remaining:
                send(held.id, held.hit, task.id)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
