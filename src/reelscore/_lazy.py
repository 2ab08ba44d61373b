"""What is loaded when it is first used: numpy, and the names that a package offers.

A command that prints scores computes them in the core; `np` here is numpy for the functions of
its modules that compute with arrays.

A package states its public names once, in the stub ``__init__.pyi``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """Stands for the module; what was asked for once is kept."""

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module("numpy"), name)
            setattr(self, name, value)
            return value

    np = _Numpy()


_IMPORTS = re.compile(r"^from (\S+) import (\w+)", re.MULTILINE)  # one name a line


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of a package from the stub beside its file.

    The stub, ``__init__.pyi``, states each public name once, by an import; type checkers read it
    as it is. A name is imported when it is first used. It must not be that of a module of the
    package: importing the module would replace it.
    """
    stub = Path(f"{file}i").read_text(encoding="utf-8")
    homes = {name: module for module, name in _IMPORTS.findall(stub)}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    public = sorted(homes)
    return load, lambda: list(public), public
