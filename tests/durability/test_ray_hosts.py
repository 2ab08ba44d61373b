"""The engine ray on several hosts: network namespaces with addresses of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

from reelscore import examples

pytestmark = pytest.mark.full
pytest.importorskip("ray", reason="the engine ray needs reelscore[ray]")
HEAD = "10.77.0.1"
ADDRESS = f"ray://{HEAD}:10001"
CLIPS = [
    str(examples.path("clips/systems/human.json")),
    *("--refs", str(examples.path("clips/references.json"))),
]


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, **options)


class Hosts:
    """A switch, and hosts at it, each a network namespace; they see nothing else."""

    def __init__(self, folder, names):
        self._folder = folder
        self._prefix = f"reelscore{os.getpid()}"
        self._environment = {
            **os.environ,
            # these hosts can be reached from nowhere else
            **{"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"},
        }
        self._names = list(names)
        switch = f"{self._prefix}switch"
        run("ip", "netns", "add", switch)
        run("ip", "-n", switch, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", switch, "link", "set", "bridge", "up")
        for number, name in enumerate(self._names, start=1):
            host, port = f"{self._prefix}{name}", f"port{number}"
            run("ip", "netns", "add", host)
            peer = ("type", "veth", "peer", "name", "eth0", "netns", host)
            run("ip", "link", "add", port, "netns", switch, *peer)
            run("ip", "-n", switch, "link", "set", port, "master", "bridge", "up")
            run("ip", "-n", host, "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
            run("ip", "-n", host, "link", "set", "eth0", "up")
            run("ip", "-n", host, "link", "set", "lo", "up")

    def start(self, name, *options, **variables):
        """Start Ray on a host."""
        number = self._names.index(name) + 1
        command = ["start", *options, "--node-ip-address", f"10.77.0.{number}"]
        command += ["--object-store-memory", 100_000_000]
        self.call(name, sys.executable, "-m", "ray.scripts.scripts", *command, **variables)

    def call(self, name, *command, check=True, **variables):
        inside = ["ip", "netns", "exec", f"{self._prefix}{name}", *map(str, command)]
        return subprocess.run(
            inside,
            check=check,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self._folder,
            env={**self._environment, **variables},
            timeout=300,
        )

    def score(self, *options):
        """Score the clips from the host of the driver."""
        command = [sys.executable, "-m", "reelscore", "score", *CLIPS, "--engine", ADDRESS]
        done = self.call("driver", *command, *options, check=False)
        return done.returncode, done.stderr

    def processes(self, name):
        listed = run("ip", "netns", "pids", f"{self._prefix}{name}").stdout
        return listed.decode().split()

    def stop(self, name):
        """Kill everything on a host, at once."""
        for process in self.processes(name):
            subprocess.run(["kill", "-9", process], check=False, capture_output=True)

    def unplug(self, name):
        run("ip", "-n", f"{self._prefix}{name}", "link", "set", "eth0", "down")

    def close(self):
        for name in self._names:
            self.stop(name)
            run("ip", "netns", "delete", f"{self._prefix}{name}")
        run("ip", "netns", "delete", f"{self._prefix}switch")


@pytest.fixture
def hosts(tmp_path):
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need the program ip, and root")
    short = tempfile.mkdtemp(prefix="ray")  # names of sockets may have 107 characters
    there = Hosts(tmp_path, ["head", "first", "second", "driver"])
    try:
        there.start(
            *("head", "--head", "--num-cpus", 0, "--include-dashboard=false"),
            *("--temp-dir", short, "--ray-client-server-port", 10001),
        )
        there.start("first", "--address", f"{HEAD}:6379", "--num-cpus", 1)
        there.start("second", "--address", f"{HEAD}:6379", "--num-cpus", 1)
        yield there
    finally:
        there.close()
        shutil.rmtree(short)


LOSS = """
import random, subprocess, sys
import reelscore
from reelscore.scoring import prepared
prepared._SENT = 200
words = "a man two dogs run sleeps on the red car while children play in park".split()
rng = random.Random(0)
def captions():
    return {f"c{k}": " ".join(rng.choices(words, k=9)) for k in range(20_000)}
ours, references = captions(), captions()
here = reelscore.score(ours, references)
engine = reelscore.Engine("ray", address=sys.argv[1])
alive = sys.argv[2:]
def progress(done, total):
    if alive and done > total // 4:
        subprocess.run(["kill", "-9", *alive], stderr=subprocess.DEVNULL)
        alive.clear()
there = reelscore.score_systems({"": ours}, references, engine=engine, progress=progress)[""]
for name, result in here.items():
    assert there[name].score == result.score
    assert (there[name].items.array == result.items.array).all()
assert not alive
print(engine.retries)
"""

# How long it takes to say that the head does not answer; on a busy machine, Python and Ray take
# longer than that to start.
UNREACHABLE = """
import sys, time
import ray, reelscore
begin = time.monotonic()
try:
    reelscore.Engine("ray", address=sys.argv[1])
except reelscore.errors.ClusterError:
    print(time.monotonic() - begin)
"""

OTHER_VERSION = "import reelscore\nreelscore.__version__ = '0.0.9'\n"


def test_several_hosts(hosts, tmp_path):
    status, errors = hosts.score("--json", "there.json")
    assert status == 0, errors
    run(sys.executable, "-m", "reelscore", "score", *CLIPS, "--json", tmp_path / "here.json")
    here, there = (
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("here", "there")
    )
    assert there == here

    hosts.call("driver", sys.executable, "-c", LOSS, ADDRESS, *hosts.processes("second"))

    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text(OTHER_VERSION)
    node = ("--address", f"{HEAD}:6379", "--num-cpus", 1)
    hosts.start("second", *node, PYTHONPATH=str(other))
    status, errors = hosts.score()
    assert status == 2
    assert "10.77.0.3 has reelscore 0.0.9" in errors

    hosts.unplug("head")
    status, errors = hosts.score()
    assert status == 2
    assert f"The Ray cluster {ADDRESS} cannot be reached" in errors
    waited = hosts.call("driver", sys.executable, "-c", UNREACHABLE, ADDRESS).stdout
    assert float(waited) < 20
