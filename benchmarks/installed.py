"""reelscore as users have it: a wheel in a virtual environment of its own."""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path


@cache
def installed_program() -> str:
    """The command ``reelscore`` of a wheel with what it needs and nothing else; made once a run.

    In the development environment every start of Python runs the hooks of editable installs, and
    packages import others that users need not have, as msgspec does with typing_extensions.
    """
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    environment = Path(folder.name, "environment")
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder.name]
    _python(sys.executable, *pip, *build, str(Path(__file__).parents[1]))
    [wheel] = Path(folder.name).glob("*.whl")
    _python(sys.executable, "-m", "venv", str(environment))
    _python(str(environment / "bin" / "python"), *pip, "install", str(wheel))
    return str(environment / "bin" / "reelscore")


def _python(*command: str) -> None:
    subprocess.run(command, check=True)
