"""Captioners of all kinds: a server, a model in a folder, or a program.

A word names one: ``openai:NAME@URL``, ``hf:FOLDER``, ``command:PROGRAM {frames} {video}``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelscore.captioners.adapters.adapter import Adapter, Sent
from reelscore.errors import DataError

_SERVED = re.compile(r"(.+)@(https?://.+)", re.DOTALL)
_FORMS = "openai:NAME@URL, hf:FOLDER, or command:'PROGRAM {frames} {video}'"


def adapter_of(
    model: str,
    *,
    sent: Sent = "images",
    sampling: Mapping[str, Any],
    parallel: int = 8,
    batch: int = 1,
    device: str = "",
    timeout: float = 120.0,
    tries: int = 6,
    key_file: str | None = None,
    server: bool = False,
) -> Adapter:
    """Make the captioner that a word names."""
    kind, _, rest = model.partition(":")
    if server and kind != "command":
        raise DataError("--server is for command:… only; an endpoint is openai:NAME@URL.")
    if sent == "video" and kind == "command":
        raise DataError('sent="video" is for models; a command gets the video as {video}.')
    fields: dict[str, Any] = {"sent": sent, "sampling": sampling}
    if kind == "openai" and (served := _SERVED.fullmatch(rest)):
        from reelscore.captioners.adapters.openai import EndpointAdapter, key_of_file
        from reelscore.endpoint.chat import Endpoint

        where: dict[str, Any] = {
            "key_from": "REELSCORE_API_KEY or --key-file",
            "timeout": timeout,
            "tries": tries,
        }
        if key_file:
            endpoint = Endpoint(served[2], key_of_file(key_file), **where)
        else:
            endpoint = Endpoint.from_environment(served[2], **where)
        return EndpointAdapter(parallel=parallel, model=served[1], endpoint=endpoint, **fields)
    if kind == "hf" and rest:
        from reelscore.captioners.adapters.hugging_face import FolderAdapter

        return FolderAdapter(batch=batch, folder=Path(rest), device=device, **fields)
    if kind == "command":
        from reelscore.captioners.adapters.command import CommandAdapter

        try:
            words = shlex.split(rest)
        except ValueError as error:
            raise DataError(f"The command {rest!r} cannot be read ({error}).") from None
        fields["sampling"] = {}
        return CommandAdapter(
            parallel=parallel, words=words, server=server, timeout=timeout, **fields
        )
    shown = re.sub(r"//[^@/]*@", "//", model)  # a password may stand there
    raise DataError(f"{shown!r} names no captioner; expected {_FORMS}.")
