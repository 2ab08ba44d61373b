"""What a team has left, on every page of a challenge and with every answer about one of its phases.

Answers have it as ``X-Quota-Day-Left`` and ``X-Quota-Left``, refusals and errors included;
``X-Quota-Phase`` says in which phase. That is the phase which a request names, by itself or by a
board or a submission; else the one that takes files now, and of several the one that closes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reelscore.challenges.challenge import KnownPhase, find_phase
from reelscore.challenges.quota import Left, quota_left
from reelscore.challenges.submissions import check_challenge, check_window
from reelscore.errors import RefusedError

if TYPE_CHECKING:
    from reelscore.challenges.pages.visits import Visit


def open_phases(visit: Visit) -> list[KnownPhase]:
    """Return the phases that take files now, of those that may be known of."""
    view = visit.view
    if whole_refusal(visit):
        return []
    phases = [find_phase(visit.arena, visit.known, phase.id) for phase in view.definition.phases]
    return [phase for phase in phases if _takes(phase, view.now)]


def whole_refusal(visit: Visit) -> str:
    """Return why the whole challenge takes no files from the visitor; empty where it does."""
    try:
        check_challenge(visit.known.state, visit.team.kind if visit.team else "team")
    except RefusedError as error:
        return str(error)
    return ""


def _takes(phase: KnownPhase, now: int) -> bool:
    try:
        check_window(phase, now, now)
    except RefusedError:
        return False
    return True


def open_lefts(visit: Visit) -> list[tuple[KnownPhase, Left]]:
    """Return what the visitor's team has left in each phase that takes files now."""
    if visit.team is None:
        return []
    return [(phase, quota_left(visit.arena, phase, visit.team)) for phase in open_phases(visit)]


def quota_headers(visit: Visit, phase_id: str = "") -> dict[str, str]:
    """Return the headers that tell what the visitor's team has left; none without a team.

    Args:
        visit: Who asks.
        phase_id: The phase that it is about; empty where none is named.
    """
    if visit.team is None:
        return {}
    if phase_id:
        phases = [find_phase(visit.arena, visit.known, phase_id)]
    else:
        phases = sorted(open_phases(visit), key=lambda phase: phase.closes)
    if not phases:
        return {}
    left = quota_left(visit.arena, phases[0], visit.team)
    numbers = {"X-Quota-Day-Left": left.today, "X-Quota-Left": left.total}
    headers = {name: str(number) for name, number in numbers.items() if number is not None}
    return {**headers, "X-Quota-Phase": phases[0].id}


class QuotaHeaders:
    """Tells with every answer to a member of a team what the team has left."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; what it has changed is counted when its answer begins."""

        async def telling(message: Message) -> None:
            visit = scope.get("state", {}).get("visit")
            if message["type"] == "http.response.start" and visit is not None:
                headers = await to_thread.run_sync(_safely, visit, scope["state"].get("phase", ""))
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await self.app(scope, receive, telling)


def _safely(visit: Visit, phase_id: str) -> dict[str, str]:
    try:
        return quota_headers(visit, phase_id)
    except Exception:  # whatever fails here, the answer itself is what matters
        return {}
