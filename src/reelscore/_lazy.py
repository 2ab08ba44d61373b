"""What is loaded when it is first used: numpy, and the names that a package offers.

A command that prints scores computes them in the core; `np` here is numpy for the functions of
its modules that compute with arrays.

A package says three times what is public, and a test checks that it says the same: `__all__` for
people, imports under `TYPE_CHECKING` for type checkers, and here for the interpreter, by module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
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


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the functions `__getattr__` and `__dir__` of a package.

    Args:
        package: The package's name: its `__name__`.
        modules: The public names in each module, separated by spaces; modules are named by their
            path below `reelscore`. A public name must not be that of a module of the package:
            importing the module would replace it.

    >>> load, names = lazy_names("reelscore.stats", {"stats.clusters": "cluster rank"})
    >>> load("rank").__module__
    'reelscore.stats.clusters'
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"reelscore.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def public_names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return load, public_names
