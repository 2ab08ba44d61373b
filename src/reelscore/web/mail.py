"""Letters by SMTP, in the one way by which a server writes to people."""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from reelscore.errors import DataError
from reelscore.web.settings import Settings, logger

_ADDRESS = re.compile(r"[^\s@<>()\[\],;:\"\\]+@[^\s@<>()\[\],;:\"\\]+")
_SECONDS = 20.0  # that a mail server may take for an answer
_HERE = ("localhost", "127.0.0.1", "::1")


class Letter(NamedTuple):
    """A letter to one address; the first line of the text is its subject."""

    to: str
    text: str
    reply: str = ""  # the address that answers go to; empty: the sender's


def is_address(text: str) -> bool:
    """Return whether a text is one address, as far as that can be seen.

    >>> is_address("ada@lab.example"), is_address("ask Ada"), is_address("a@b, c@d")
    (True, False, False)
    """
    return _ADDRESS.fullmatch(text) is not None


class Mail:
    """The mail server that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self._sender = settings.sender
        if not is_address(settings.sender):
            raise DataError(f"{settings.sender!r} is no address to send from; expected NAME@HOST.")
        self._domain = settings.sender.partition("@")[2]
        try:
            parts = urlsplit(settings.smtp)
            self._port = parts.port or (465 if parts.scheme == "smtps" else 25)
            self._host, self._scheme = parts.hostname or "", parts.scheme
        except ValueError:  # a port that is none
            self._host = self._scheme = ""
        if self._scheme not in ("smtp", "smtps") or not self._host:
            shown = settings.smtp.rpartition("@")[2]  # without the password
            raise DataError(
                f"{shown!r} is no mail server; expected smtp://HOST or smtps://HOST, with a name "
                "and a password where it asks for them: smtps://NAME:PASSWORD@HOST. Set "
                "REELSCORE_SMTP."
            )
        self._name, self._password = unquote(parts.username or ""), unquote(parts.password or "")

    def send(self, letters: Iterable[Letter]) -> Iterator[Letter]:
        """Yield each letter when the mail server has taken it, or refused its address.

        Raises:
            OSError: If the mail server cannot be reached or does not take letters from here; then
                those that were not yielded can be sent again later.
        """
        with ExitStack() as opened:
            server: smtplib.SMTP | None = None
            for letter in letters:
                server = server or opened.enter_context(self._connected())
                try:
                    server.send_message(self._message(letter))
                except (smtplib.SMTPRecipientsRefused, smtplib.SMTPNotSupportedError) as error:
                    # without the address, which names a person
                    codes = [code for code, _ in getattr(error, "recipients", {}).values()]
                    details = {"error": type(error).__name__, "codes": codes}
                    logger.warning("mail refused", extra={"details": details})
                yield letter

    def send_or_log(self, letter: Letter) -> None:
        """Send one letter now; where that fails, the log says so and nobody waits."""
        try:
            list(self.send([letter]))
        except OSError as error:
            logger.warning("mail failed", extra={"details": {"error": type(error).__name__}})

    def _connected(self) -> smtplib.SMTP:
        safe = ssl.create_default_context()
        if self._scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self._host, self._port, timeout=_SECONDS, context=safe
            )
        else:
            server = smtplib.SMTP(self._host, self._port, timeout=_SECONDS)
            server.ehlo()
            # nobody listens on this machine, and its own mail server has no certificate
            if self._host not in _HERE and (self._name or server.has_extn("starttls")):
                server.starttls(context=safe)
        if self._name:
            server.login(self._name, self._password)
        return server

    def _message(self, letter: Letter) -> EmailMessage:
        subject, _, text = letter.text.partition("\n")
        message = EmailMessage()
        message["Subject"], message["From"], message["To"] = subject, self._sender, letter.to
        message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain=self._domain)
        message["Auto-Submitted"] = "auto-generated"  # nobody's absence is answered to it
        if is_address(letter.reply):
            message["Reply-To"] = letter.reply
        message.set_content(text.strip() + "\n")
        return message
