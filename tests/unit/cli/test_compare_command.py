"""`reelscore compare`: tests, marks and letters."""

from __future__ import annotations

import json
import string

import pytest

SYSTEMS = ("human.json", "strong.json", "weak.json", "broken.json")
QUICK = ("--resamples", "200", "--trials", "300", "-m", "rouge_l")


def test_against_the_first(run, folder):
    status, out, err = run("compare", *SYSTEMS, "-r", "refs.json", *QUICK)
    assert (status, err) == (0, "")
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines()[1:5]}
    assert rows["weak"].endswith("*")
    assert rows["broken"].endswith("*")
    assert not rows["strong"].endswith("*")
    assert not rows["human"].endswith("*")
    assert "differs from human" in out
    assert "holm" in out
    assert "p, corrected" in out


def test_baseline(run, folder):
    status, out, _ = run("compare", *SYSTEMS, "-r", "refs.json", *QUICK, "--baseline", "weak")
    assert status == 0
    assert "differs from weak" in out


def test_all_pairs(run, folder):
    status, out, _ = run("compare", *SYSTEMS, "-r", "refs.json", *QUICK, "--all-pairs")
    assert status == 0
    lines = out.splitlines()
    assert lines[1].startswith("a human")
    assert lines[1].rstrip().endswith("cd")  # better than weak and broken, not than strong
    assert lines[4].startswith("d broken")


def test_files(run, folder):
    status, _, _ = run(
        *("compare", *SYSTEMS, "-r", "refs.json", *QUICK),
        *("--json", "c.json", "--latex", "c.tex", "--csv", "c.csv"),
    )
    assert status == 0
    stored = json.loads((folder / "c.json").read_text())
    assert list(stored) == ["systems", "format", "comparisons", "untested"]
    assert stored["untested"] == {}
    assert len(stored["comparisons"]) == 3 * 2
    assert set(stored["comparisons"][0]) == {
        *("metric", "system", "other", "difference", "test", "p", "p_corrected", "signature"),
        *("better", "interval", "verdict"),
    }
    assert "$^{*}$" in (folder / "c.tex").read_text()
    assert "*" in (folder / "c.csv").read_text()


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_one_test(run, folder, test):
    status, out, _ = run("compare", *SYSTEMS, "-r", "refs.json", *QUICK, "--test", test)
    assert status == 0
    assert ("paired bootstrap" in out) == (test == "bootstrap")
    assert ("approximate randomization" in out) == (test == "randomization")


def test_level(run, folder):
    status, out, _ = run("compare", *SYSTEMS, "-r", "refs.json", *QUICK, "--level", "0")
    assert status == 0
    assert "*" not in out.partition("\n\n")[0]


def test_more_systems_than_letters(run, folder):
    names = []
    for k in range(len(string.ascii_letters) + 1):
        (folder / f"s{k}.txt").write_text("a man runs\na dog\n" if k < 50 else "x\ny\n")
        names.append(f"s{k}.txt")
    references = ["--refs", "r1.txt"]
    status, _, _ = run(
        *("compare", *names, *references, "--all-pairs", "--level", "1", "--correction", "none"),
        *("-m", "rouge_l", "--test", "randomization", "--trials", "10"),
    )
    assert status == 0
