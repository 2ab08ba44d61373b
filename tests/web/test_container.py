"""The container: the script it runs, its files checked against each other, and Docker where it is.

The start script is run here with the very settings of the image, save for paths and the port.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import yaml

from reelscore import examples
from reelscore.campaigns.campaign import Campaign
from support.server import free_port, small_campaign, wait_for

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
URL = "https://rate.example"
CLOSED = ("read_only", "tmpfs", "cap_drop", "security_opt", "networks")


def instructions(name):
    """What the Containerfile says under a keyword, each with its lines joined."""
    text = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    return re.findall(rf"^{name}\s+(.*)$", text, re.MULTILINE)


def settings(tmp_path):
    """The environment of the image, with paths of this machine and a free port."""
    (image,) = instructions("ENV")
    variables = dict(each.split("=", 1) for each in shlex.split(image))
    for folder in ("data", "videos", "backups"):
        (tmp_path / folder).mkdir(exist_ok=True)
    moved = {name: re.sub(r"^/", f"{tmp_path}/", value) for name, value in variables.items()}
    here = {"REELSCORE_PORT": str(free_port()), "REELSCORE_LISTEN": "127.0.0.1"}
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return os.environ | moved | here | {"REELSCORE_URL": URL, "PATH": programs}


@contextmanager
def started(environment):
    """Run the script that the image runs, until the pages answer."""
    (entry,) = instructions("ENTRYPOINT")
    script = ROOT / json.loads(entry)[0].lstrip("/")
    process = subprocess.Popen(  # its log is not read: in a pipe there is room for so much only
        [script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        wait_for(f"http://127.0.0.1:{environment['REELSCORE_PORT']}/health")
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)


def get(environment, path, host="rate.example"):
    """What Caddy would pass on, and the answer."""
    port = int(environment["REELSCORE_PORT"])
    forwarded = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("GET", path, headers={"Host": host, "Accept": "text/html", **forwarded})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def health(environment):
    """Run the health check of the image."""
    (check,) = instructions("HEALTHCHECK")
    command = json.loads(check.partition("CMD")[2])
    done = subprocess.run(command, env=environment, capture_output=True)
    return done.returncode


def board_of(environment):
    """Give the board of the challenge, once its baseline is scored."""
    for _ in range(3000):
        status, board = get(environment, "/challenges/clips/boards/test.csv")
        assert status == 200
        if "Broken" in board:
            break
        time.sleep(0.05)
    return board


def test_the_start_script_serves(where, tmp_path):
    environment = settings(tmp_path)
    if "://" in where:  # there a worker scores, not the pages
        environment |= {"REELSCORE_DATABASE": where, "REELSCORE_SCORERS": "0"}
    small_campaign(environment["REELSCORE_DATABASE"], id="dogs")
    definition = examples.path("clips/challenge.toml")
    subprocess.run([ROOT / "deploy" / "challenge.sh", definition], env=environment, check=True)
    assert health(environment) == 1
    with started(environment) as process:
        if "://" in where:
            worker = [ROOT / "deploy" / "worker.sh", "--once"]
            subprocess.run(worker, env=environment, check=True)
        assert "Broken,baseline,ranked" in board_of(environment)
        assert health(environment) == 0
        link = process.stdout.readline()
        assert f"{URL}/organise/setup/" in link
        status, page = get(environment, link.split(URL)[1].strip())
        assert (status, "Make the owner" in page) == (200, True)
        assert get(environment, "/organise/login", host="other.example")[0] == 400
        secret = Path(environment["REELSCORE_SECRET_FILE"])
        assert secret.stat().st_mode & 0o777 == 0o600
        subprocess.run([ROOT / "deploy" / "backup.sh"], env=environment, check=True)
    assert process.returncode in (0, -signal.SIGTERM)  # it was the server itself that got it
    (copy,) = Path(environment["REELSCORE_BACKUPS"]).iterdir()
    if "://" in where:
        assert copy.read_bytes().startswith(b"PGDMP")
        return
    with Campaign.open(copy) as campaign:
        assert campaign.id == "dogs"


@pytest.mark.parametrize(
    ("script", "needs"),
    [("worker.sh", b"REELSCORE_DATABASE: say the URL"), ("challenge.sh", b"name the definition")],
)
def test_scripts_say_what_they_need(script, needs, tmp_path):
    environment = settings(tmp_path) | {"REELSCORE_DATABASE": ""}
    done = subprocess.run([ROOT / "deploy" / script], env=environment, capture_output=True)
    assert (done.returncode, needs in done.stderr) == (2, True)


def test_the_start_script_needs_an_address(tmp_path):
    environment = settings(tmp_path) | {"REELSCORE_URL": ""}
    done = subprocess.run([ROOT / "deploy" / "start.sh"], env=environment, capture_output=True)
    assert done.returncode == 2
    assert b"REELSCORE_URL: say the address people use" in done.stderr
    assert list((tmp_path / "data").iterdir()) == []


def test_the_image_has_what_it_runs():
    ignored = (ROOT / ".dockerignore").read_text().split()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = set()
    for line in instructions("COPY"):
        if line.startswith("--from="):  # what another stage made
            continue
        *sources, target = [part for part in line.split() if not part.startswith("--")]
        for source in sources:
            assert (ROOT / source).exists(), source
            in_folders = {str(folder) for folder in (Path(source), *Path(source).parents)}
            assert in_folders & kept, f".dockerignore leaves {source} out"
            copied.add(f"{target}{Path(source).name}" if target.endswith("/") else target)
    assert json.loads(instructions("ENTRYPOINT")[0])[0] in copied
    for script in (ROOT / "deploy").glob("*.sh"):
        assert f"/deploy/{script.name}" in copied
        assert os.access(script, os.X_OK)


def test_the_image_is_run_by_nobody_in_particular():
    assert instructions("USER") == ["reelscore"]
    made = " ".join(instructions("RUN"))
    volumes = json.loads(instructions("VOLUME")[0])
    assert re.search(rf"--owner=reelscore .*{' '.join(volumes)}", made)


def test_the_services_fit_together():
    proxy, pages, worker, database = (
        COMPOSE["services"][name] for name in ("proxy", "pages", "worker", "database")
    )
    assert pages["build"] == {"context": ".", "dockerfile": "Containerfile"}
    assert "ports" not in pages
    assert "ports" not in database
    assert "ports" not in worker
    assert database["profiles"] == ["postgres"]
    assert worker["profiles"] == ["workers"]
    # workers are the pages' image, as closed as they are, with the database and nothing else
    assert worker["image"] == pages["image"]
    assert "volumes" not in worker
    assert [worker[key] for key in CLOSED] == [pages[key] for key in CLOSED]
    assert (ROOT / worker["entrypoint"][0].lstrip("/")).exists()
    place = "REELSCORE_DATABASE"
    assert worker["environment"][place].split(":-")[0] == pages["environment"][place].split(":-")[0]
    assert pages["depends_on"]["database"]["required"] is False
    # the pages believe the proxy about addresses, and nobody else
    address = proxy["networks"]["inside"]["ipv4_address"]
    assert pages["environment"]["REELSCORE_PROXY"] == address
    # every path inside is one of the image
    (image,) = instructions("ENV")
    inside = {volume.split(":")[1] for volume in (v.removesuffix(":ro") for v in _paths(pages))}
    assert inside == {"/data", "/backups", "/videos"}
    assert all(path in image for path in inside)
    # uploads wait on a disk, not in memory
    variables = dict(each.split("=", 1) for each in shlex.split(image))
    assert variables["TMPDIR"] in inside
    assert variables["TMPDIR"] not in pages["tmpfs"]
    for service in (proxy, pages, database):
        for source in (volume.split(":")[0] for volume in _paths(service)):
            known = source in COMPOSE["volumes"] or source == "./videos"  # the user's own
            assert known or (ROOT / source).exists(), source
    caddy = (ROOT / "deploy" / "Caddyfile").read_text()
    assert "{$REELSCORE_URL}" in caddy
    assert f"reverse_proxy pages:{instructions('EXPOSE')[0]}" in caddy
    client = re.search(r"PostgreSQL (\d+)", (ROOT / "Containerfile").read_text())[1]
    assert database["image"] == f"postgres:{client}"


def _paths(service):
    return [re.sub(r"\$\{\w+:-(.*?)\}", r"\1", volume) for volume in service["volumes"]]


def test_every_setting_is_documented():
    files = [ROOT / "compose.yaml", ROOT / "Containerfile", *(ROOT / "deploy").glob("*.sh")]
    text = "".join(file.read_text() for file in files)
    documented = (ROOT / "docs" / "host.md").read_text()
    for name in set(re.findall(r"\b(?:REELSCORE|POSTGRES)_[A-Z_]+\b", text)):
        if name not in ("POSTGRES_USER", "POSTGRES_DB"):
            assert f"`{name}" in documented, name


@pytest.fixture(scope="module")
def docker():
    """The Docker command, where an engine answers and the base image can be had."""
    program = shutil.which("docker")
    if program is None:
        pytest.skip("there is no Docker on this machine")
    if subprocess.run([program, "version"], capture_output=True).returncode:
        pytest.skip("no Docker engine answers on this machine")
    base = instructions("ARG")[0].removeprefix("BASE=")
    pulled = subprocess.run([program, "pull", base], capture_output=True, text=True)
    if pulled.returncode:
        pytest.skip(f"the base image cannot be had: {pulled.stderr.strip()}")
    return program


def test_the_image_is_built_and_started(docker):
    def run(*arguments):
        done = subprocess.run([docker, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    port = free_port()
    run("build", "--tag", "reelscore-test", f"--file={ROOT / 'Containerfile'}", str(ROOT))
    options = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", f"--publish=127.0.0.1:{port}:8000"]
    name = run("run", "--detach", *options, f"--env=REELSCORE_URL={URL}", "reelscore-test")
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        assert get({"REELSCORE_PORT": str(port)}, "/organise/login")[0] == 200
        assert run("exec", name, "id", "--user") == "10001"
        run("exec", name, "/deploy/backup.sh")
        python = "from reelscore import examples; print(examples.path('clips/challenge.toml'))"
        definition = run("exec", name, "python", "-c", python)
        run("exec", name, "/deploy/challenge.sh", definition)
        assert get({"REELSCORE_PORT": str(port)}, "/challenges/clips")[0] == 200
        assert run("exec", name, "ls", "/backups").endswith("Z.db")
    finally:
        run("rm", "--force", "--volumes", name)
