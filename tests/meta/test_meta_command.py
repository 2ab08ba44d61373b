"""``reelscore meta``: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from reelscore import ScoreTable
from reelscore.campaigns.evaluate.preferences import Preference, metric_accuracy
from reelscore.examples import path


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """A working folder with a human table and two metrics of six systems, as others make them."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(6, 40)) + np.arange(6)[:, None]
    for name, noise in (("people", 1.0), ("good", 1.0), ("bad", 6.0)):
        scores = quality + noise * rng.normal(size=quality.shape)
        rows = [f"v{i},s{s},{scores[s, i]:.4f},x" for s in range(6) for i in range(40)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,system,score,note", *rows]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_table(tables, run):
    status, out, err = run(
        "meta", "good.csv", "bad.csv", "--human", "people.csv", "--resamples", 100
    )
    assert (status, err) == (0, "")
    assert out.startswith("level: system (6 systems, 40 items, 240 judged captions)\n\nmetric")
    assert "williams" in out
    assert "perm-both|pearson|level:system|side:one|correction:none|trials:100|seed:12345" in out
    for name in ("people", "good", "bad"):
        assert f"\n{name}.csv: Columns not used: note.\n" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("level", ["item", "pooled", "per-system"])
def test_levels(tables, run, level):
    status, out, _ = run(
        *("meta", "good.csv", "bad.csv", "--human", "people.csv", "--level", level),
        *(
            "-t",
            "perm-items",
            "--resamples",
            50,
            "-c",
            "kendall_b,pdp",
            "--intervals",
            "boot-items",
        ),
    )
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    assert [row[0] for row in rows if row and row[0] in ("good", "bad")][:2] == ["good", "bad"]
    assert "perm-items|kendall_b" in out


@pytest.fixture
def unlike_raters(tables):
    """One rater of two uses 1 to 5, the other 0 to 100; the second rates few, and at random."""
    rng = np.random.default_rng(1)
    rows = [line.split(",") for line in (tables / "people.csv").read_text().splitlines()[1:]]
    order = np.argsort(np.argsort([float(row[2]) for row in rows])) / len(rows)
    lines = [f"{row[0]},{row[1]},{1 + 4 * q:.3f},r1" for row, q in zip(rows, order, strict=True)]
    lines += [f"{row[0]},{row[1]},{rng.uniform(0, 100):.1f},r2" for row in rows[::5]]
    (tables / "raters.csv").write_text("\n".join(["item,system,score,rater", *lines]))
    return tables


def test_raters_of_different_scales_are_named_and_can_be_standardised(unlike_raters, run):
    words = ("meta", "good.csv", "--human", "raters.csv", "-t", "none", "--level", "pooled")
    words += ("-c", "pearson")
    status, out, _ = run(*words)
    assert status == 0
    said = " ".join(out.split())
    assert "Warning: raters seem to have different scales: r1 gives 1 to 4.98" in said
    assert "standardise each rater's scores: --human 'raters.csv|raters:z'." in said
    status, standard, _ = run(*words[:3], "raters.csv|raters:z", *words[4:])
    assert status == 0
    assert "Warning" not in standard
    assert "raters.csv: Columns not used" not in standard

    def r(text):
        return float(text.split("pearson")[1].split()[2])

    assert r(standard) > r(out) + 0.1


def test_a_table_without_raters_cannot_be_standardised(tables, run):
    status, _, err = run("meta", "good.csv", "--human", "people.csv|raters:z")
    assert status == 2
    assert "it has no column of raters" in err


def test_preferences_as_a_share_of_what_people_decide(tables, run):
    people = {"v1": 1.5, "v2": -1.0, "v3": 0.0, "v4": 2.0}
    metric = {"v1": 0.2, "v2": 0.1, "v3": 0.3, "v4": 0.0}  # right, wrong, people tie, a tie
    for name, gains in (("soda", metric), ("votes", people)):
        rows = [
            f"{i},{s},{k * gain}" for i, gain in gains.items() for s, k in (("a", 1), ("b", -1))
        ]
        (tables / f"{name}.csv").write_text("\n".join(["item,system,score", *rows]))
    coefficients = "decided_accuracy,half_accuracy,accuracy"
    words = ("soda.csv", "--human", "votes.csv", "--level", "item", "-c", coefficients)
    status, out, _ = run("meta", *words, "--json", "-")
    assert status == 0
    found = {each["coefficient"]: each for each in json.loads(out)["correlations"]}
    assert found["decided_accuracy"]["value"] == pytest.approx(1 / 3)
    assert found["decided_accuracy"]["undefined"] == 1  # the item that people tie, said in a note
    assert found["half_accuracy"]["value"] == pytest.approx((1 + 0 + 0.5 + 0.5) / 4)
    assert found["accuracy"]["value"] == 0.25
    preference = Preference("a", "b", people, 0.5, 0.25, 3, "story")
    ours = metric_accuracy(ScoreTable.read(tables / "soda.csv"), "soda", preference)
    assert ours.accuracy == pytest.approx(found["decided_accuracy"]["value"])


def test_judgments_by_several_criteria(tables, run):
    rows = [line.split(",") for line in (tables / "people.csv").read_text().splitlines()[1:]]
    wide = [f"{item},{system},{score},{-float(score)},r1" for item, system, score, _ in rows]
    (tables / "wide.csv").write_text("\n".join(["video_id,model,good,poor,rater", *wide]))
    words = ("meta", "good.csv", "--human", "wide.csv", "-t", "none", "-c", "pearson")
    status, _, err = run(*words)
    assert status == 2
    assert "several scores: good, poor" in err
    plain = run(*words[:3], "people.csv", *words[4:])[1]
    number = plain.split("pearson")[1].split()[2]

    def chosen(column):
        return run(*words[:3], f"wide.csv|column:{column}", *words[4:])

    status, out, err = chosen("good")
    assert (status, err) == (0, "")
    assert number in out
    assert f"-{number}" in chosen("poor")[1].replace("−", "-")
    status, _, err = chosen("goodness")
    assert status == 2
    assert "Unknown human score 'goodness'. Did you mean 'good'?" in err


def test_files(tables, run):
    status, *_ = run(
        *("meta", "ours=good.csv", "bad.csv", "--human", "people.csv", "--resamples", 50),
        *("--json", "all.json", "-o", "all.tex", "--plots", "figures|format:svg"),
    )
    assert status == 0
    data = json.loads((tables / "all.json").read_text())
    assert {each["metric"] for each in data["correlations"]} == {"ours", "bad"}
    assert [each["test"] for each in data["tests"]] == ["williams", "perm-both"]
    assert data["warning"] == ""
    assert (tables / "all.tex").read_text().count(r"\begin{tabular}") == 3
    assert sorted(file.name for file in (tables / "figures").iterdir()) == [
        "p-values-perm-both.svg",
        "p-values-williams.svg",
        "scatter-bad.svg",
        "scatter-ours.svg",
    ]


def test_json_alone_on_standard_output(tables, run):
    status, out, _ = run("meta", "good.csv", "--human", "people.csv", "--json", "-")
    assert status == 0
    assert json.loads(out)["tests"] == []


def test_a_shift_is_warned_of(tables, run):
    rows = (tables / "people.csv").read_text().splitlines()
    moved = [
        row.replace(row.split(",")[0], f"v{(int(row[1:].split(',')[0]) + 1) % 40}", 1)
        for row in rows[1:]
    ]
    (tables / "moved.csv").write_text("\n".join([rows[0], *moved]))
    _, _, quiet = run("meta", "good.csv", "--human", "people.csv", "--level", "pooled")
    assert quiet == ""
    status, _, err = run("meta", "good.csv", "--human", "moved.csv", "--level", "pooled")
    assert status == 0
    assert "shifted by" in err
    assert "reelscore audit" in err


def test_the_example(run, folder):
    run("score", "human.json", "strong.json", "weak.json", "-r", "refs.json", "--table", "t.json")
    status, out, _ = run("meta", "t.json", "--human", path("clips/judgments.csv"), "-t", "none")
    assert status == 0
    assert "60 scores are means of several rows (120 rows in all)." in " ".join(out.split())
    assert "1 system was judged but got no score (first: 'broken')." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good.csv", "--human", "absent.csv"], "absent.csv: cannot be read"),
        (["good.csv", "good.csv", "--human", "people.csv"], "NAME=FILE"),
        (["good.csv", "--human", "people.csv", "-c", "person"], "Did you mean 'pearson'?"),
        (["a=good.csv", "bad.csv", "--human", "people.csv", "-t", "perm"], "Known: meng"),
        (["good.csv", "--human", "people.csv", "--json", "no/a.json"], "no/a.json"),
        (["good.csv", "--human", "people.csv", "--plots", "bad.csv"], "folder cannot be made"),
    ],
)
def test_errors(tables, run, arguments, message):
    status, out, err = run("meta", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_without_matplotlib(tables, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, err = run("meta", "good.csv", "--human", "people.csv", "--plots", "figures")
    assert status == 2
    assert "pip install 'reelscore[plots]'" in err


def test_one_system_and_one_item(run, tmp_path):
    (tmp_path / "scores.csv").write_text("system,item,score\na,v1,0.5\n")
    (tmp_path / "people.csv").write_text("system,item,score\na,v1,50\n")
    arguments = ["-c", "pearson", "-t", "none", "--level", "pooled"]
    _, out, _ = run("meta", tmp_path / "scores.csv", "--human", tmp_path / "people.csv", *arguments)
    assert out.startswith("level: pooled (1 system, 1 item, 1 judged caption)\n")
