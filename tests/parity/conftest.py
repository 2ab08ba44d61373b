"""The jar is started once for all parity tests."""

from __future__ import annotations

import pytest
from jars import MeteorJar


@pytest.fixture(scope="session")
def meteor_jar(java):
    jar = MeteorJar(java)
    yield jar
    jar.close()


@pytest.fixture
def report(capsys):
    """Print a line of counts past pytest's capture."""

    def say(text):
        with capsys.disabled():
            print(f"\n  {text}", end="")

    return say
