"""How large requests may be, and how long they may take to come.

Whoever opens a connection and sends nothing, or a byte now and then, would keep a place that others
need. Both are told so by a status where there is a request, else the connection is closed.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive
from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADERS = 20.0  # seconds in which the headers of a request must come
SILENCE = 30.0  # seconds that a body may pause
SLOWEST = 1000.0  # bytes a second that a body must bring, after the first pause
TOO_LARGE = "That is more than this server takes at once."
TOO_SLOW = "The request came too slowly; try again with a better connection."


def limited(receive: Receive, most: int) -> Receive:
    """Watch a body as it comes: its announced length may be missing, or a lie."""
    seen, begun, more = 0, time.monotonic(), True

    async def watched() -> Message:
        nonlocal seen, more
        if not more:  # the body is here; what comes next is that the browser goes
            return await receive()
        late = begun + SILENCE + seen / SLOWEST - time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, min(SILENCE, late)))
        except asyncio.TimeoutError:
            raise HTTPException(408, TOO_SLOW, {"Connection": "close"}) from None
        seen += len(message.get("body", b""))
        more = bool(message.get("more_body"))
        if seen > most:
            raise HTTPException(413, TOO_LARGE)
        return message

    return watched


class PromptProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed where the headers of a request do not come in time."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Wait on while there are only some of the headers."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        if self._waiting:
            self._waiting.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        has_request = self.cycle is not None and not self.cycle.response_complete
        if has_request and self._waiting:
            self._waiting.cancel()
            self._waiting = None
        elif not has_request and not self._waiting:
            self._waiting = self.loop.call_later(HEADERS, self.transport.close)
