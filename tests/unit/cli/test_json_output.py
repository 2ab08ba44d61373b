"""``--json``: commands that print a table have it, and with ``-`` print JSON alone."""

from __future__ import annotations

import ast
import inspect
import json
import shutil
import sys

import click
import pytest
from click.testing import CliRunner

from reelscore import examples
from reelscore.cli.main import cli

# Tell a story around their tables, or count what the files hold that they write.
SHOWS = {"demo", "corpus export"}


def commands(group, path=()):
    """All commands below a group, with the words that call them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def functions_behind(callback):
    """The function of a command, and those of its module that it calls, one through another."""
    function = inspect.unwrap(callback)
    module = ast.parse(inspect.getsource(sys.modules[function.__module__]))
    own = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    waiting, seen = [function.__name__], {}
    while waiting:
        name = waiting.pop()
        if name in own and name not in seen:
            seen[name] = own[name]
            calls = (each.func for each in ast.walk(own[name]) if isinstance(each, ast.Call))
            waiting += [each.id for each in calls if isinstance(each, ast.Name)]
    return seen.values()


def prints_a_table(callback):
    return any(
        (isinstance(each, ast.Attribute) and each.attr == "to_text")
        or (isinstance(each, ast.Name) and each.id == "show_grid")
        for function in functions_behind(callback)
        for each in ast.walk(function)
    )


def test_commands_that_print_tables_print_json():
    printing = {name: own for name, own in commands(cli) if prints_a_table(own.callback)}
    assert {"score", "campaign results", "corpus stats", "meta tables", "stress"} <= set(printing)
    without = {
        name
        for name, command in printing.items()
        if "--json" not in {spelling for option in command.params for spelling in option.opts}
    }
    assert without == SHOWS


SCORED = ["systems/strong.json", "systems/weak.json", "-r", "references.json"]
QUICK = ["--resamples", "50"]
CALLS = [
    ["score", *SCORED, "--intervals", *QUICK],
    ["score", "samples.json", "-r", "references.json", "--samples"],
    ["compare", *SCORED, *QUICK, "--test", "trials:50"],
    ["check", *SCORED],
    ["inspect", "scores.json"],
    ["metrics"],
    ["doctor"],
    ["stories", "story.json", "-r", "story.json"],
    ["audit", *SCORED],
    ["stress", "-r", "references.json", "-m", "rouge_l"],
    ["meta", "scores.json", "--human", "judgments.csv"],
    ["ensemble", "scores.json", "--human", "judgments.csv", "-o", "weights.json", "--folds", "2"],
    ["battles", "votes.csv"],
    ["campaign", "hits", "campaign.db"],
    ["campaign", "status", "campaign.db"],
    ["campaign", "status", "campaign.db", "--list"],
    ["campaign", "quality", "campaign.db"],
    ["campaign", "top-up", "campaign.db", "--judgments", "1"],
    ["corpus", "stats", "references.json"],
    ["corpus", "stats", "--published"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The embedded example with a table of scores, samples, a story and a campaign."""
    folder = tmp_path_factory.mktemp("json") / "clips"
    shutil.copytree(examples.path("clips"), folder)
    shutil.copy(examples.path("stories") / "annotator_1.json", folder / "story.json")
    shutil.copy(folder / "references.json", folder / "samples.json")
    votes = ["model_a,model_b,winner,item", *(f"ours,theirs,model_a,v{k}" for k in range(20))]
    (folder / "votes.csv").write_text("\n".join([*votes, *(f"a,ours,tie,v{k}" for k in range(9))]))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for made in (
            ["score", *SCORED, "-m", "meteor,rouge_l", "--table", "scores.json"],
            ["campaign", "new", "campaign.db", *SCORED, "--protocol", "ranking"],
        ):
            assert CliRunner().invoke(cli, made).exit_code == 0, made
    return folder


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_standard_output_is_json_alone(call, folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, [*call, "--json", "-"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)
