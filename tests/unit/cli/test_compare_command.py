"""`reelscore compare`: tests, marks and letters."""

from __future__ import annotations

import json
import string

import pytest

from support.latex import read_tables

SYSTEMS = ("human.json", "strong.json", "weak.json", "broken.json")
QUICK = ("--resamples", "200", "--test", "trials:300", "-m", "rouge_l")


def test_a_wide_table(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{s},v{k},{k * n},{k + n}" for n, s in enumerate(("a", "b")) for k in range(9)]
    (tmp_path / "wide.csv").write_text("\n".join(["model,video_id,first,second", *rows]))
    status, out, err = run("compare", "wide.csv", "--test", "trials:20")
    assert (status, err) == (0, "")
    assert out.split()[:3] == ["system", "first", "second"]


def test_against_the_first(run, folder):
    status, out, err = run("compare", *SYSTEMS, "-r", "refs.json", *QUICK)
    assert (status, err) == (0, "")
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines()[1:5]}
    assert rows["weak"].endswith("▼")
    assert rows["broken"].endswith("▼")
    assert rows["strong"].endswith(tuple(string.digits))
    assert rows["human"].endswith(tuple(string.digits))
    assert "▼ worse than human, p < 0.05" in out
    assert "holm" in out
    assert "\nDifferences from human, with 95 % intervals and corrected p-values:\n" in out


def test_baseline(run, folder):
    status, out, _ = run("compare", *SYSTEMS, "-r", "refs.json", *QUICK, "--baseline", "weak")
    assert status == 0
    assert "▲ better, ▼ worse than weak, p < 0.05" in out


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
        *("--json", "c.json", "-o", "c.tex", "-o", "c.csv"),
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
    assert "\\textsuperscript{$\\bigtriangledown$}" in (folder / "c.tex").read_text()
    assert "▼" in (folder / "c.csv").read_text()


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_one_test(run, folder, test):
    status, out, _ = run("compare", *SYSTEMS, "-r", "refs.json", *QUICK, "--test", test)
    assert status == 0
    assert ("paired bootstrap" in out) == (test == "bootstrap")
    assert ("approximate randomization" in out) == (test == "randomization")


def test_level(run, folder):
    status, out, _ = run(
        "compare", *SYSTEMS, "-r", "refs.json", *QUICK, "--test", "trials:300|level:0"
    )
    assert status == 0
    assert not set("▲▼*") & set(out)
    assert "No score differs from human, p < 0" in out


def test_more_systems_than_letters(run, folder):
    names = []
    for k in range(len(string.ascii_letters) + 1):
        (folder / f"s{k}.txt").write_text("a man runs\na dog\n" if k < 50 else "x\ny\n")
        names.append(f"s{k}.txt")
    references = ["--refs", "r1.txt"]
    status, _, _ = run(
        *("compare", *names, *references, "--all-pairs"),
        *("-m", "rouge_l", "--test", "randomization|trials:10|level:1|correction:none"),
    )
    assert status == 0


def test_a_table_for_a_paper(run, folder):
    status, out, err = run(
        *("compare", *SYSTEMS, "-r", "refs.json", "--resamples", "200", "--test", "trials:300"),
        *("-m", "rouge_l,cider,self_bleu", "-b", "weak", "--intervals"),
        *("--scale", "100", "--digits", "1", "--sort", "CIDEr", "--columns", "CIDEr,ROUGE-L"),
        *("-o", "c.tex"),
    )
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["system", "CIDEr", "ROUGE-L"]
    assert [line.split()[0] for line in lines[1:9:2]] == ["human", "strong", "weak", "broken"]
    assert lines[2].split()[0].startswith("±")
    [table] = read_tables((folder / "c.tex").read_text())
    assert table.caption.startswith("Best in bold, second best underlined, $\\pm$ half")
    assert "$\\bigtriangleup$ better, $\\bigtriangledown$ worse than weak, p" in table.caption
    assert "randomization, 300 draws; correction: holm" in table.caption
    assert "Scores $\\times$ 100." in table.caption
    assert table.rows[1][1].startswith("\\textbf{161.6}\\textsuperscript{$\\bigtriangleup$}")
    assert table.rows[2][1].startswith("\\underline{106.8}\\textsuperscript{$\\bigtriangleup$}")


def test_no_lone_column_with_letters(run, folder):
    arguments = ("--resamples", "50", "--test", "trials:50|level:0.5", "--all-pairs")
    status, out, _ = run("compare", *SYSTEMS, "-r", "refs.json", *arguments)
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    heads = [line.split() for line in out.splitlines() if line.startswith("system")]
    assert [len(head) - 1 for head in heads] == [4, 3, 7]


def test_stored_tables_of_other_items(run, folder):
    """No rule matches more ids than they do by themselves, and what is stored stays as it is."""
    captions = json.loads((folder / "weak.json").read_text())
    (folder / "few.json").write_text(json.dumps(dict(list(captions.items())[:8])))
    for name, more in (("strong", ()), ("few", ("--missing", "skip"))):
        words = ("score", f"{name}.json", "-r", "refs.json", "-m", "rouge_l", *more)
        assert run(*words, "--json", f"{name}_scores.json")[0] == 0
    tables = ("compare", "strong_scores.json", "few_scores.json", "--test", "trials:50")
    status, _, err = run(*tables)
    assert status == 2
    assert "scored on different items (15 and 8)" in err
    assert "match-ids" not in err
    for option in (("--missing", "common"), ("--missing", "zero")):
        status, out, err = run(*tables, *option)
        assert (status, out) == (2, "")
        assert f"{option[0]} is for captions; strong_scores.json is a score table" in err
    assert (
        run("compare", "strong.json", "few.json", "-r", "refs.json", *QUICK, "--missing", "common")[
            0
        ]
        == 0
    )
