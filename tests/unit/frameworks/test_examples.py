"""The examples of modules that are imported only where their framework is used.

Importing all frameworks takes seconds, so pytest does not collect these modules itself.
"""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys

import pytest

NEEDED = {
    "": "torch",
    "torchmetrics": "torchmetrics",
    "transformers": "transformers",
    "lightning": "pytorch_lightning",
}


@pytest.mark.parametrize("name", NEEDED)
def test_examples(name):
    pytest.importorskip(NEEDED[name])
    module = importlib.import_module(f"reelscore.frameworks.{name}".removesuffix("."))
    outcome = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.failed == 0
    assert outcome.attempted > 0


@pytest.mark.parametrize(
    ("module", "framework"),
    [
        ("torchmetrics", "torchmetrics"),
        ("transformers", "transformers"),
        ("lightning", "pytorch_lightning"),
    ],
)
def test_a_missing_framework_is_named(module, framework):
    blocked = f"import sys; sys.modules['{framework}'] = sys.modules['lightning'] = None"
    script = f"{blocked}\nimport reelscore.frameworks.{module}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert f"MissingExtraError: reelscore.frameworks.{module} needs" in last
    assert "pip install" in last


def test_the_package_loads_no_framework():
    script = (
        "import sys, reelscore.frameworks as f; assert f.evaluate_module(); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
    assert "reelscore.scoring.scorer" in loaded
    assert not {"torch", "torchmetrics", "transformers", "evaluate"} & set(loaded.split())
