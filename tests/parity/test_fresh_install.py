"""The two wheels in an empty environment: BERTHA scores the embedded example, network refused.

What reelscore depends on is lent from the environment of the tests; its own packages are not.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.full  # builds two wheels

ROOT = Path(__file__).resolve().parents[2]

# Whoever asks for a name or a connection beyond this machine gets an error.
REFUSE = """
import socket


def refuse(*arguments, **options):
    raise OSError("the network was asked for")


socket.socket.connect = socket.socket.connect_ex = refuse
socket.create_connection = socket.getaddrinfo = refuse
"""

SCRIPT = """
import json, sys
from pathlib import Path
import reelscore, reelscore_bertha
from reelscore import examples
print(json.dumps([str(Path(m.__file__)) for m in (reelscore, reelscore_bertha)]
                 + [str(examples.path("clips"))]))
"""


def run(*command: object, **options: object) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheels; gives its Python."""
    pytest.importorskip("onnxruntime")
    home = tmp_path_factory.mktemp("fresh")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    for package in (ROOT, ROOT / "models" / "bertha"):
        options = ("--no-deps", "--no-build-isolation", "--no-index")
        run(*pip, "wheel", *options, "-w", home / "wheels", package)
    run(sys.executable, "-m", "venv", "--without-pip", home / "env")
    python = home / "env" / "bin" / "python"
    wheels = sorted((home / "wheels").glob("*.whl"))
    assert [wheel.name.partition("-")[0] for wheel in wheels] == ["reelscore", "reelscore_bertha"]
    assert all(wheel.stat().st_size < 50e6 for wheel in wheels)
    # for pip alone, before anything else lies there
    run(*pip, "--python", python, "install", "--no-index", "--no-deps", *wheels)
    packages = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    )
    # a folder named in a .pth lends its packages, but not what its own .pth files name
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (packages / "sitecustomize.py").write_text(REFUSE)
    return python


def test_offline(fresh: Path, tmp_path: Path) -> None:
    *modules, clips = json.loads(run(fresh, "-c", SCRIPT, cwd=tmp_path))
    assert all(Path(path).is_relative_to(fresh.parents[1]) for path in modules)
    refused = subprocess.run(
        [fresh, "-c", "import urllib.request as u; u.urlopen('http://localhost')"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "the network was asked for" in refused.stderr
    apart = ("unshare", "--net", "--map-root-user") if _can_unshare() else ()
    systems = sorted((Path(clips) / "systems").iterdir())
    output = run(
        *(*apart, fresh.parent / "reelscore", "score", *systems),
        *("-r", Path(clips) / "references.json", "--metrics", "bertha", "--json", "-"),
        cwd=tmp_path,
    )
    scores = {name: row["bertha"]["score"] for name, row in json.loads(output)["systems"].items()}
    assert scores["human"] > scores["strong"] > scores["weak"] > scores["broken"]
    assert scores["human"] > 0.9


def _can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    command = ("unshare", "--net", "--map-root-user", "true")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
