"""Records that msgspec reads: from many threads at once, whichever reads them first."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import reelscore
import reelscore_studies

SOURCES = [
    path
    for package in (reelscore, reelscore_studies)
    for path in sorted(Path(package.__file__).parent.rglob("*.py"))
]
# Types that have no fields.
PLAIN = {"dict", "list", "tuple", "str", "int", "float", "object", "Any", "msgspec", "Raw"}

READERS = """
import sys, threading
import msgspec
from reelscore._records import resolved

sys.setswitchinterval(1e-6)
for _ in range(300):
    class Inner(msgspec.Struct):
        number: int
        numbers: "list[int]"
    class Outer(msgspec.Struct):
        name: str
        one: "Inner"
        many: "list[Inner]"
    start = threading.Barrier(8)
    def read():
        start.wait()
        inner = {"number": 1, "numbers": [2]}
        data = {"name": "a", "one": inner, "many": [inner]}
        assert msgspec.convert(data, KIND).many[0].numbers == [2]
    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_threads_may_read_a_type_for_the_first_time_together():
    # without `resolved`, msgspec 0.22 ends the process within a few dozen of these rounds
    script = READERS.replace("KIND", "resolved(Outer)")
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def is_reader(call):
    """Whether a call is `msgspec.convert` or a `decode` of msgspec."""
    name = ast.unparse(call.func)
    return name.startswith("msgspec.") and name.rpartition(".")[2] in {"convert", "decode"}


def kinds_read(call):
    """The types that a call reads into."""
    yield from (each.value for each in call.keywords if each.arg == "type")
    if ast.unparse(call.func) == "msgspec.convert":
        yield from call.args[1:2]


def has_fields(kind):
    names = {node.id for node in ast.walk(kind) if isinstance(node, ast.Name)}
    return not names <= PLAIN


def ready_names(tree):
    """The names that a module gives to types it has made ready."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("resolved("):
            yield from map(ast.unparse, node.targets)


def test_types_with_fields_are_read_when_they_are_ready():
    bare = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        ready = {*ready_names(tree)}
        bare += [
            f"{path.name}:{node.lineno}: {ast.unparse(kind)}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and is_reader(node)
            for kind in kinds_read(node)
            if has_fields(kind) and not ast.unparse(kind).startswith("resolved(")
            if ast.unparse(kind) not in ready
        ]
    assert bare == [], "read them as resolved(Type): see _records.py"
