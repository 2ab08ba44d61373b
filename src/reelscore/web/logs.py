"""Logs as one JSON object a line, with nothing that tells who a person is.

Requests are logged by the pattern of their route, such as ``/r/{token}``, never by their address;
errors by where they happened, never by their message, which may quote what was sent.
"""

from __future__ import annotations

import logging
import time
import traceback
from datetime import datetime, timezone
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger("reelscore.web")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    >>> record = logging.makeLogRecord({"msg": "started", "levelname": "INFO", "created": 0.0})
    >>> JsonLines().format(record)
    '{"time":"1970-01-01T00:00:00.000+00:00","level":"info","event":"started"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        when = datetime.fromtimestamp(record.created, timezone.utc)
        line: dict[str, Any] = {
            "time": when.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "details", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= where(record.exc_info[1])
        return msgspec.json.encode(line).decode()


def where(error: BaseException) -> dict[str, Any]:
    """Say what kind of error happened and where, without its message.

    >>> where(ValueError("swordfish"))
    {'error': 'ValueError', 'at': []}
    """
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]],
    }


class RequestLog:
    """Logs each request when it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and take its time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", "(none)")
            details = {
                "method": scope["method"],
                "route": route,
                "status": status,
                "ms": round((time.perf_counter() - begin) * 1000, 1),
            }
            logger.info("request", extra={"details": details})
