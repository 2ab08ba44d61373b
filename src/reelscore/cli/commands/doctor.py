"""``reelscore doctor``: what is installed, and what would be possible with more."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Literal, NamedTuple

import click

from reelscore._packages import default_device
from reelscore._version import __version__
from reelscore.cli.messages import say
from reelscore.cli.report_options import Outputs, outputs
from reelscore.errors import ResourceError, install_command
from reelscore.text.meteor_data import meteor_index

State = Literal["yes", "partly", "no"]

# What the extras of pyproject.toml enable.
_EXTRAS = {
    "files": "Zstandard, Parquet and HDF5; sets larger than memory; previews of videos",
    "plots": "figures as files",
    "languages": "tokenizers of other languages",
    "parser": "spice, parse and captions without names, with the package of models",
    "learned": "bertha and sts, with the package of weights",
    "torch": "training, GPUs, encoders of your own, captioners",
    "corpus": "corpora of described films: sound, subtitles, scripts",
    "web": "campaigns, challenges and their server",
    "ray": "clusters of machines",
}
_PACKAGES = {
    "reelscore-bertha": "the weights of bertha",
    "reelscore-parser": "the parser's network and lexicon",
    "reelscore-studies": "published tables computed again, captioning baselines",
}
_PROGRAMS = {
    "ffmpeg": ("cutting clips of films", "apt install ffmpeg"),
    "java": ("the reference tools, to compare with", "apt install default-jre-headless"),
}


class Part(NamedTuple):
    """One thing that may be installed."""

    name: str  # what it is called
    state: State  # whether it is there
    found: str  # its version, or which of its packages are missing
    enables: str  # what it is for
    install: str = ""  # the line that installs what is missing


@click.command("doctor")
@outputs()
def command(outputs: Outputs) -> None:
    """Show what is installed, and what each missing part would enable.

    \b
    Examples:
      reelscore doctor
      reelscore doctor --json -
    """
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    about = f"reelscore {__version__}, Python {platform.python_version()}, {machine}"
    parts = list(_parts())
    outputs.write(json=lambda: {"about": about, "parts": [part._asdict() for part in parts]})
    if not outputs.shows:
        return
    click.echo(f"{about}\n")
    for part in parts:
        click.echo(f"{part.name:<18} {part.state:<7} {part.found}".rstrip())
    click.echo()
    for part in parts:
        if part.state != "yes":
            say(f"{part.name} would enable: {part.enables}.", err=False)
            if part.install:
                click.echo(f"    {part.install}")


def _parts() -> Iterator[Part]:
    """Look at everything, from what scoring needs on."""
    try:
        meteor_index()
        yield Part("METEOR's data", "yes", "ready", "meteor")
    except ResourceError as error:
        yield Part("METEOR's data", "no", str(error), "meteor")
    for name, enables in _EXTRAS.items():
        yield _extra(name, enables)
    for name, enables in _PACKAGES.items():
        version = _version(name)
        install = "" if version else install_command(name)
        yield Part(name, "yes" if version else "no", version or "", enables, install)
    device = default_device()
    there: State = "yes" if device != "cpu" else "no"
    yield Part("GPU", there, device, "learned metrics and training, many times as fast")
    for name, (enables, install) in _PROGRAMS.items():
        path = shutil.which(name)
        yield Part(name, "yes" if path else "no", path or "", enables, "" if path else install)
    postgres = ", PostgreSQL by psycopg" if _version("psycopg") else ""
    found = f"SQLite {sqlite3.sqlite_version}{postgres}"
    yield Part("database", "yes", found, "campaigns and challenges")


def _extra(name: str, enables: str) -> Part:
    """Look for the packages of an extra."""
    wanted = extra_packages(name)
    missing = [package for package in wanted if _version(package) is None]
    state: State = "yes" if wanted and not missing else "no"
    found = "" if wanted else "unknown: not an extra of the reelscore that pip knows"
    if missing and len(missing) < len(wanted):
        state, found = "partly", f"without {', '.join(missing)}"
    install = "" if state == "yes" else install_command(f"reelscore[{name}]")
    return Part(f"[{name}]", state, found, enables, install)


def extra_packages(name: str) -> list[str]:
    """Return the packages of an extra that this machine needs, by what is installed as reelscore.

    >>> extra_packages("no such extra")
    []
    """
    try:
        lines = metadata.requires("reelscore") or []
    except metadata.PackageNotFoundError:  # run from its sources
        return []
    packages = []
    for line in lines:
        package, _, marker = line.partition(";")
        elsewhere = "python_version" in marker or (
            "sys_platform != 'win32'" in marker.replace('"', "'") and sys.platform == "win32"
        )
        if re.search(rf"extra == ['\"]{re.escape(name)}['\"]", marker) and not elsewhere:
            packages.append(re.split(r"[\s\[<>=!~]", package.strip(), maxsplit=1)[0])
    return [package for package in packages if package != "reelscore"]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
