"""How pages are made: templates for all HTML, modules for all scripts."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import reelscore
from reelscore import examples
from reelscore.metrics.registry import metric_names
from reelscore.report.pages import joined_modules, report_scripts
from reelscore.report.parser import parses_html
from reelscore.text.parser.roles import Clause, Filler, Sentence
from reelscore.text.parser.trees import ROOT, Token
from reelscore.web.site import static_file, static_folders

PACKAGE = Path(reelscore.__file__).parent
SCRIPTS = sorted(
    script for folder in (report_scripts(), *static_folders()) for script in folder.glob("*.js")
)
DECLARED = re.compile(r"^(?:async )?(?:function|class|const|let) ([\w$]+)", re.MULTILINE)


def test_html_is_made_by_templates_alone():
    tag = re.compile(r"</\w+>")
    tags = []
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        bodies = [node.body for node in ast.walk(tree) if hasattr(node, "body")]
        docstrings = {
            id(body[0].value)
            for body in bodies
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr)
        }
        tags += [
            f"{path.relative_to(PACKAGE)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
            and tag.search(node.value)
        ]
    assert tags == []


def test_commands_without_html_do_without_jinja():
    clips = examples.path("clips")
    arguments = ["score", str(clips / "systems/weak.json"), "-r", str(clips / "references.json")]
    script = (
        "import sys; from reelscore.cli.main import cli\n"
        f"cli.main({arguments!r}, standalone_mode=False)\n"
        "sys.exit('jinja2' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


@pytest.mark.parametrize("entry", [report_scripts() / "main.js", static_file("turk.js")])
def test_joined_modules_share_one_scope(entry):
    script = joined_modules(entry)
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    names = DECLARED.findall(script)
    assert sorted(set(names)) == sorted(names)


def test_the_report_uses_all_its_scripts():
    script = joined_modules(report_scripts() / "main.js")
    there = DECLARED.findall(script)
    for path in report_scripts().glob("*.js"):
        declared = DECLARED.findall(path.read_text(encoding="utf-8").replace("export ", ""))
        assert declared, path.name
        assert [name for name in declared if there.count(name) != 1] == [], path.name


def test_scripts_know_no_metric():
    names = [*metric_names(), "soda", "anet", "rouge"]
    pattern = re.compile(rf"\b({'|'.join(names)})(?=[\W_]|\b)", re.IGNORECASE)
    words_in = {
        path.name: set(pattern.findall(path.read_text(encoding="utf-8"))) for path in SCRIPTS
    }
    for page in ("task.js", "live.js"):  # of raters, who answer questions
        words_in[page] -= {"questions"}
    assert {name: words for name, words in words_in.items() if words} == {}


def test_parsed_captions_are_shown_as_text():
    dog = Token("<dogs>", "NNS", "<dog>", head=1, relation="nsubj")
    tokens = (dog, Token("run", "VBP", "run", head=ROOT, relation="root"))
    verb, subject = Filler(1, "run", "run", "VBP"), Filler(0, "<dog>", "<dogs>", "NNS")
    sentence = Sentence("<dogs> run", tokens, (Clause(subject, verb, None, None),))
    page = parses_html({"clip<1>": [sentence]})
    assert page.endswith("</html>\n")
    assert "clip&lt;1&gt;" in page
    assert "&lt;dogs&gt;" in page
    assert "<dog" not in page
