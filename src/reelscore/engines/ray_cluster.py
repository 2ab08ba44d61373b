"""A Ray cluster: how it is reached, and whether its machines have what the work needs."""

from __future__ import annotations

import os
import secrets
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from reelscore._packages import need
from reelscore._version import __version__
from reelscore.errors import ClusterError, install_command

if TYPE_CHECKING:
    from ray import ObjectRef

_SECONDS = 4  # to wait for a head to answer; a client of Ray tries three times
_TRIES = 4  # to connect, where the head fails to start a process for the client
_NOT_STARTED = ("Starting Ray client server failed", "psutil.")  # it says one or the other
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"  # how HTTP/2 begins
_SETTINGS = b"\4"  # the kind of frame that it is answered with
_STORE = 512 * 2**20  # bytes for what is shared, where a cluster of one machine is started
# Seconds for all machines to answer a check. A busy one needs long to start a process: Ray itself
# gives each a minute, and reelscore is to be imported there.
_GIVEN_UP = 90.0


class Node(NamedTuple):
    """A machine of the cluster."""

    name: str  # its address
    processors: float  # how many processors Ray may use
    gpus: float  # how many GPUs
    memory: int  # its memory in bytes
    ray_memory: float  # as Ray counts it


def connect(address: str | None = None) -> Any:
    """Connect to a cluster, or start one on this machine; gives the module `ray`.

    A program that is connected already stays so.
    """
    _set_defaults()
    ray = need("ray", "reelscore[ray]", "The engine ray needs", "Ray")
    if ray.is_initialized():
        return ray
    variable = "" if address else os.environ.get("RAY_ADDRESS", "")
    address = address or variable or "local"
    whence = ", as RAY_ADDRESS says," if variable else ""
    _check_answer(address, whence)
    quiet: dict[str, object] = {"log_to_driver": False, "logging_level": "error"}
    if address == "local":
        quiet |= {"include_dashboard": False, "object_store_memory": _STORE}
        _set_token()
    for tries in range(1, _TRIES + 1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ray.init(address, **quiet)
            break
        except (ConnectionError, RuntimeError, ray.exceptions.AuthenticationError) as error:
            # A head forks a process for each client while its threads use gRPC, and a few of
            # these die at once; another try succeeds.
            if tries == _TRIES or not any(sign in str(error) for sign in _NOT_STARTED):
                raise _unreachable(address, whence, first_line(error)) from error
    return ray


def _set_defaults() -> None:
    """Choose what Ray reads when it is imported, unless the user has."""
    os.environ.setdefault("RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S", str(_SECONDS))
    os.environ.setdefault("RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S", str(_SECONDS))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # who asked for no GPU sees none
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "1")
    # losses are counted, not printed among the results
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")


def _set_token() -> None:
    """Make a token that ends with our own cluster; Ray would write one to the home folder.

    A token of the user's own is used instead, as Ray finds it.
    """
    named = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    if not named and not Path("~/.ray/auth_token").expanduser().exists():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


def _check_answer(address: str, whence: str) -> None:
    """Refuse an address where nothing answers: Ray itself would try for minutes, or exit."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        port = parts.port
    except ValueError:
        port = None
    if address in ("local", "auto"):
        return
    if not parts.hostname or port is None:
        raise ClusterError(
            f"{address!r}{whence} is no address of a Ray cluster; expected ray://HOST:10001, auto "
            "or local."
        )
    try:
        with socket.create_connection((parts.hostname, port), timeout=3 * _SECONDS) as head:
            # Clients have a limit of their own; a program on a machine of the cluster has none.
            if not parts.scheme and os.environ.get("RAY_USE_TLS", "0") == "0":
                head.settimeout(_SECONDS)
                head.sendall(_GREETING)
                if head.recv(9)[3:4] != _SETTINGS:
                    raise ConnectionError("what answers there is not Ray")
    except OSError as error:
        raise _unreachable(address, whence, str(error)) from None


def _unreachable(address: str, whence: str, reason: str) -> ClusterError:
    if address == "auto":
        return ClusterError(
            "This machine belongs to no Ray cluster. Start one with 'ray start --head', join one "
            "with 'ray start --address HEAD:6379', or give no address, nor RAY_ADDRESS, for this "
            "machine alone."
        )
    return ClusterError(
        f"The Ray cluster {address}{whence} cannot be reached ({reason}). Look whether its head "
        "runs ('ray status' there), whether the port is right (ray://HOST:10001 is that of "
        "clients) and open, whether Ray has the same version here and there, and whether the "
        "cluster wants a token (then RAY_AUTH_MODE=token on every machine, and its token)."
    )


def check_nodes(ray: ModuleType) -> list[Node]:
    """Look whether every machine has this version of reelscore and its METEOR index."""
    nodes = []
    complaints = []
    for node, (complaint, memory) in _on_each_node(ray, _look(__version__)):
        name, resources = node["NodeManagerAddress"], node["Resources"]
        if complaint:
            complaints.append(f"{name} {complaint}")
        gpus, ray_memory = resources.get("GPU", 0.0), resources.get("memory", memory)
        nodes.append(Node(name, resources["CPU"], gpus, memory, ray_memory))
    if not nodes:
        raise ClusterError("The Ray cluster has no machine with a processor to work on.")
    if complaints:
        remedy = install_command(f"reelscore=={__version__}")
        raise ClusterError(
            f"{len(complaints)} of {len(nodes)} machines of the Ray cluster cannot do the work: "
            f"{'; '.join(complaints)}. Install there: {remedy}"
        )
    return nodes


def check_files(ray: ModuleType, paths: Sequence[str]) -> None:
    """Look whether every machine sees some files, with the size that they have here."""
    sizes = {path: Path(path).stat().st_size for path in paths}
    for node, (complaint, _) in _on_each_node(ray, _look_for(sizes, Path.cwd())):
        if complaint:
            raise ClusterError(
                f"The machine {node['NodeManagerAddress']} of the Ray cluster {complaint}. "
                "Captions, references and the folder of --parts must lie where all machines see "
                "them, under the same name."
            )


def _on_each_node(
    ray: ModuleType, look: Callable[[], tuple[str, int]]
) -> Iterator[tuple[Mapping[str, Any], tuple[str, int]]]:
    """Run a check on each machine that gets work, on all at once."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(look)

    def send(node: Mapping[str, Any]) -> ObjectRef:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        return task.options(num_cpus=0, max_retries=2, scheduling_strategy=there).remote()

    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    calls = [send(node) for node in nodes]
    waiting = ray.wait(calls, num_returns=len(calls), timeout=_GIVEN_UP)[1] if calls else []
    if waiting:
        names = [nodes[calls.index(call)]["NodeManagerAddress"] for call in waiting]
        raise ClusterError(
            f"{len(names)} of {len(nodes)} machines of the Ray cluster do not answer within "
            f"{_GIVEN_UP:g} s ({', '.join(names)}). Look whether they have too much to do, or "
            "take them out of the cluster: 'ray stop' there."
        )
    for node, call in zip(nodes, calls, strict=True):
        try:
            yield node, ray.get(call)
        except ray.exceptions.RayError as error:
            yield node, (f"cannot run a task ({first_line(error)})", 0)


def _look(version: str) -> Callable[[], tuple[str, int]]:
    """Make the check of a machine, which is sent as it is: reelscore may be absent there."""

    def look() -> tuple[str, int]:
        import os

        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        try:
            import reelscore
        except ImportError as error:
            return f"has no reelscore ({error})", memory
        if reelscore.__version__ != version:
            return f"has reelscore {reelscore.__version__}, here is {version}", memory
        from reelscore.text.meteor_data import meteor_index

        try:
            meteor_index()
        except OSError as error:
            return f"has no METEOR index ({error})", memory
        return "", memory

    return look


def _look_for(sizes: Mapping[str, int], directory: Path) -> Callable[[], tuple[str, int]]:
    """Make the check of a machine for files; names are as in a directory of the driver."""

    def look() -> tuple[str, int]:
        for path, size in sizes.items():
            try:
                here = (directory / path).stat().st_size
            except OSError as error:
                return f"does not see {path} ({error.strerror})", 0
            if here != size:
                return f"sees another {path} ({here:,} bytes instead of {size:,})", 0
        return "", 0

    return look


def first_line(error: BaseException) -> str:
    r"""Return the first line of an error's message, since Ray's go on for long.

    Where that only announces what another machine said, it is the last line, which says it.
    """
    lines = str(error).strip().split("\n")
    return lines[-1 if lines[0].endswith(":") else 0].strip()
