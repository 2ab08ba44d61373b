"""Connections that send nothing, or a byte now and then: they would keep places others need."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADERS = 20.0  # seconds in which the headers of a request must come


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
