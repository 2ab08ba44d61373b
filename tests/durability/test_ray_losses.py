"""The engine ray at full size: the same bits on 1, 2 and 4 nodes, and when nodes are killed.

Kills are made between two results, at random places, while batches are under way. A node that is
killed need not have one at that time: then nothing is lost, and nothing given out again.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import reelscore
from reelscore import stories
from reelscore.engines import Engine
from reelscore.scoring.shards.pipeline import score_files
from support.shards import write_shards

pytestmark = [pytest.mark.full, pytest.mark.shared]
ray = pytest.importorskip("ray", reason="the engine ray needs reelscore[ray]")
NODE = {"num_cpus": 1, "object_store_memory": 120 * 2**20}


class Nodes:
    """A cluster whose head does no work, with a number of nodes that can be killed."""

    def __init__(self, count):
        from ray.cluster_utils import Cluster

        head = {**NODE, "num_cpus": 0, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self._nodes = [self._cluster.add_node(**NODE) for _ in range(count)]
        self._chance = random.Random(count)
        self.count = count
        self.kills = 0
        self.environment = {**os.environ, "RAY_ADDRESS": self._cluster.address}
        ray.init(self._cluster.address, log_to_driver=False, logging_level="error")

    def kill_one(self):
        """Kill a node with all its processes, and add another."""
        node = self._nodes.pop(self._chance.randrange(len(self._nodes)))
        self._cluster.remove_node(node)
        self._nodes.append(self._cluster.add_node(**NODE))
        self.kills += 1

    def killing(self, kills, total):
        """Give a progress that kills nodes at random places."""
        places = sorted(self._chance.sample(range(total // 10, total), kills))

        def progress(done, _):
            if places and done >= places[0]:
                del places[0]
                self.kill_one()

        return progress

    def close(self):
        ray.shutdown()
        self._cluster.shutdown()


@pytest.fixture(params=[1, 2, 4])
def nodes(request):
    cluster = Nodes(request.param)
    yield cluster
    cluster.close()


def trecvid_2020(folder):
    """Six systems and five references of 1,700 clips."""
    year = folder / "single-annotator" / "2020"

    def read(path):
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        return {str(k): line for k, line in enumerate(lines)}

    files = sorted((year / "systems").iterdir())
    systems = {path.name: read(path) for path in files if "HUMAN" not in path.name}
    annotators = [read(path) for path in sorted((year / "references").iterdir())]
    return systems, {item: [own[item] for own in annotators] for item in annotators[0]}


def test_trecvid(nodes, trecvid_folder, monkeypatch):
    monkeypatch.setattr("reelscore.scoring.prepared._SENT", 100)
    captions = trecvid_2020(trecvid_folder)
    here = reelscore.score_systems(*captions, empty="zero").to_dict(statistics=True)
    engine = Engine("ray")
    quiet = reelscore.score_systems(*captions, empty="zero", engine=engine)
    assert quiet.to_dict(statistics=True) == here
    progress = nodes.killing(3, 6 * 1700)
    disturbed = reelscore.score_systems(*captions, empty="zero", engine=engine, progress=progress)
    assert disturbed.to_dict(statistics=True) == here
    assert nodes.kills == 3


@pytest.mark.parametrize(
    ("nodes", "size", "kills"),
    [(1, 200_000, 2), (2, 1_000_000, 10), (4, 200_000, 2)],
    indirect=["nodes"],
)
def test_many_captions(nodes, size, kills, trecvid_folder):
    systems, references = trecvid_2020(trecvid_folder)
    texts = [text for own in systems.values() for text in own.values()]
    texts += [text for own in references.values() for text in own]
    chance = random.Random(0)
    captions = [{str(k): chance.choice(texts) for k in range(size)} for _ in range(2)]
    here = reelscore.score(*captions, empty="zero")
    engine = Engine("ray")
    progress = nodes.killing(kills, size)
    table = reelscore.score_systems(
        {"": captions[0]}, captions[1], empty="zero", engine=engine, progress=progress
    )
    for name, result in table[""].items():
        assert result.score == here[name].score
        assert np.array_equal(result.items.array, here[name].items.array)
    assert nodes.kills == kills
    if kills > nodes.count:  # a few may all lose nothing
        assert engine.retries > 0


def test_stories(nodes, dense, monkeypatch):
    monkeypatch.setattr("reelscore.stories.story_scorer.PAIRS_AT_ONCE", 5_000)
    references = [dense / f"anet_val_{k}.json.gz" for k in (1, 2)]
    systems = {f"bmt_{k}": dense / f"bmt_gtprop_val_{k}.json.gz" for k in (1, 2)}
    choices = {"scores": "soda,activitynet", "metrics": "meteor,cider"}
    here = stories.score_systems(systems, references, **choices).to_dict(statistics=True)
    engine = Engine("ray")
    progress = nodes.killing(2, 4000)
    there = stories.score_systems(systems, references, engine=engine, progress=progress, **choices)
    assert there.to_dict(statistics=True) == here
    assert nodes.kills == 2


@pytest.mark.parametrize("nodes", [2], indirect=True)
def test_bertha(nodes, trecvid_folder, monkeypatch):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("reelscore_bertha")
    systems, references = trecvid_2020(trecvid_folder)
    items = list(references)[:60]
    systems = {name: {item: own[item] for item in items} for name, own in systems.items()}
    references = {item: references[item] for item in items}
    here = reelscore.score_systems(systems, references, "bertha", empty="zero")
    engine = Engine("ray", workers=2)
    for size in (7, 60):
        monkeypatch.setattr("reelscore.scoring.prepared._SENT_SLOWLY", size)
        there = reelscore.score_systems(systems, references, "bertha", empty="zero", engine=engine)
        for name in systems:
            ours, theirs = (table[name]["bertha"].items.array for table in (here, there))
            assert np.abs(ours - theirs).max() < 1e-5


# The driver

DRIVER = """
import sys
from reelscore import Engine
from reelscore.scoring.shards import partitions
from reelscore.scoring.shards.pipeline import score_files
partitions._ROWS = 2_000
score_files(["captions"], ["references"], out="scores", engine=Engine("ray"))
"""


@pytest.mark.parametrize("nodes", [2], indirect=True)
def test_the_driver_is_killed_ten_times(nodes, trecvid_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    systems, _ = trecvid_2020(trecvid_folder)
    texts = [text for own in systems.values() for text in own.values() if text.strip()]
    chance = random.Random(1)
    items = [f"clip {k}" for k in range(30_000)]
    rows = [{"item": item, "caption": chance.choice(texts)} for item in items]
    write_shards(Path("references"), rows, 4)
    rows = [{"system": "ours", "item": item, "caption": chance.choice(texts)} for item in items]
    write_shards(Path("captions"), rows, 4)
    monkeypatch.setattr("reelscore.scoring.shards.partitions._ROWS", 2_000)
    score_files(["captions"], ["references"], out="undisturbed")
    kept = {}  # of each part in the manifest: the file, which is never written again
    for kill in range(10):
        driver = subprocess.Popen([sys.executable, "-c", DRIVER], env=nodes.environment)
        wait_for_parts(driver, len(kept) + chance.randint(1, 2))
        driver.kill()
        driver.wait()
        parts = {name: Path("scores/items", name).stat() for name in manifest_parts()}
        for name, before in kept.items():
            assert (parts[name].st_ino, parts[name].st_mtime_ns) == before, (kill, name)
        kept = {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in parts.items()}
        assert 0 < len(kept) < 30
    subprocess.run([sys.executable, "-c", DRIVER], env=nodes.environment, check=True)
    files = sorted(path.relative_to("undisturbed") for path in Path("undisturbed").rglob("*.*"))
    assert len(files) == 32
    assert files == sorted(path.relative_to("scores") for path in Path("scores").rglob("*.*"))
    for name in files:
        assert Path("scores", name).read_bytes() == Path("undisturbed", name).read_bytes(), name
    for name, (inode, _) in kept.items():
        assert Path("scores/items", name).stat().st_ino == inode


def manifest_parts():
    try:
        manifest = json.loads(Path("scores/manifest.json").read_text())
    except FileNotFoundError:
        return []
    return [part["name"] for part in manifest["parts"]]


def wait_for_parts(driver, count):
    """Wait until the manifest has a number of parts."""
    end = time.monotonic() + 300
    while len(manifest_parts()) < count:
        assert driver.poll() is None, "the driver came to its end"
        assert time.monotonic() < end
        time.sleep(0.01)
