"""``reelscore stories``: tables, files, choices, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reelscore import examples, stories
from reelscore.cli.main import cli
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError, ReelscoreError, UnknownNameError
from support.latex import read_tables

SYSTEMS = [str(examples.path(f"stories/systems/{n}.json")) for n in ("concise", "verbose")]
REFS = [f"--refs={examples.path(f'stories/annotator_{k}.json')}" for k in (1, 2)]


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["stories", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_default_output_names_the_protocol() -> None:
    out = run(*SYSTEMS, *REFS).output
    assert "SODA, f: meteor, annotators: mean, missing videos: zero" in out
    assert "ActivityNet scorer 2018-11, IoU 0.3, 0.5, 0.7, 0.9, missing videos: zero" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "concise" in out
    assert "soda_c|f:meteor/alpha:0.85" in out
    assert out == run("score", *SYSTEMS, *REFS).output


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    run(*SYSTEMS, *REFS, "--json", str(path), "--protocol", "annotators:merge|missing:skip")
    data = json.loads(path.read_text())["systems"]
    expected = stories.score(
        SYSTEMS[0],
        [examples.path(f"stories/annotator_{k}.json") for k in (1, 2)],
        annotators="merge",
        missing="skip",
    )
    assert data["concise"] == json.loads(json.dumps(expected.to_dict()))
    shown = run(SYSTEMS[0], *REFS, "--json", "-", "--scores", "soda_c").stdout
    assert list(json.loads(shown)["systems"]["concise"])[-1] == "soda_c"
    assert ScoreTable.read(path).metrics[-1] == "anet_f1"  # it is a score table


def test_table_csv_latex(tmp_path: Path) -> None:
    table, csv, tex, md = (tmp_path / name for name in ("t.csv", "s.csv", "s.tex", "s.md"))
    files = ["--table", str(table), "-o", str(csv), "-o", str(tex), "-o", str(md)]
    run("ours=" + SYSTEMS[0], SYSTEMS[1], *REFS, *files)
    read = ScoreTable.read(table)
    assert read.systems == ["ours", "verbose"]
    assert 0 < read["ours"]["soda_c"].items["v_kayak"] < 1
    assert "soda_c" in csv.read_text()
    assert tex.read_text().count("\\begin{tabular}") == 2
    assert md.read_text().count("| system |") == 2
    assert f"| ours | {read['ours']['soda_a'].score:.4f} |" in md.read_text().replace("**", "")
    assert run(SYSTEMS[0], *REFS, "-o", "-.md").stdout.startswith("| system |")


def test_intervals_and_baseline() -> None:
    out = run(*SYSTEMS, *REFS, "--intervals", "--baseline", "concise", "--test", "trials:99").output
    assert "±" in out
    assert "No score differs from concise, p < 0.05 (paired bootstrap, 1,000 draws" in out
    with pytest.raises(UnknownNameError, match="concise"):
        run(*SYSTEMS, *REFS, "--baseline", "consise")


def test_presets_and_choices() -> None:
    out = run(SYSTEMS[0], *REFS, "--protocol", "vid2seq").output
    assert "SODA, f: meteor, METEOR swapped, annotators: mean" in out
    assert "bleu_4" not in out
    out = run(SYSTEMS[0], *REFS, "--protocol", "anet-challenge|variant:2017-original").output
    assert "SODA" not in out
    assert "ActivityNet scorer 2017-original" in out
    out = run(SYSTEMS[0], *REFS, "--protocol", "f:rouge_l|tious:0.5", "--scores", "soda").output
    assert "SODA, f: rouge_l" in out
    assert "tious:0.5|" in out
    protocol = "pdvc|f:(meteor|alpha:0.5)|metrics:(bleu|n:2),cider"
    out = run(SYSTEMS[0], *REFS, "--protocol", protocol).output
    assert "soda_c|f:meteor/alpha:0.5/" in out
    assert "bleu/n:2" in out
    assert (
        out
        == run(
            SYSTEMS[0], *REFS, "--protocol", "pdvc|f:meteor%7Calpha:0.5|metrics:bleu%7Cn:2,cider"
        ).output
    )


def test_videos_of_all_systems(tmp_path: Path) -> None:
    few = json.loads(Path(SYSTEMS[0]).read_text())
    few["results"] = dict(list(few["results"].items())[1:])
    (tmp_path / "few.json").write_text(json.dumps(few))
    systems = [str(tmp_path / "few.json"), SYSTEMS[1]]
    out = run(*systems, *REFS, "--protocol", "missing:common", "--scores", "soda_c").output
    assert "Scored on the 4 of 5 items that all systems have." in out
    assert "common:4/5" in out
    out = run(*systems, *REFS, "--protocol", "missing:skip", "--scores", "soda_c").output
    assert "pass --protocol missing:common" in " ".join(out.split())


def test_bad_calls(tmp_path: Path) -> None:
    assert run(SYSTEMS[0]).exit_code == 2
    assert "Missing option '--refs'" in run(SYSTEMS[0]).output
    for protocol, message in (
        ("tious:x", "--protocol: tious is 'x'; expected a list, each a number."),
        ("variant:2019", "--protocol: variant is '2019'; expected 2018-11, 2017-fixed, 2017-or"),
        ("pdvk", "Unknown protocol 'pdvk'. Did you mean 'pdvc'?"),
        ("annotator:merge", "Unknown setting of --protocol 'annotator'. Did you mean 'annotators'"),
        ("soda-published|f:rouge_l", 'meteor_order="swapped" applies to METEOR only'),
        ("max_captions:0", "max_captions is 0; expected at least 1."),
    ):
        with pytest.raises(ReelscoreError) as error:
            run(SYSTEMS[0], *REFS, "--protocol", protocol)
        assert message.replace('="', ":").replace('"', "") in str(error.value).replace('"', "")
    with pytest.raises(DataError, match="no such file"):
        run(str(tmp_path / "none.json"), *REFS)
    with pytest.raises(DataError, match="Two systems are called"):
        run(SYSTEMS[0], SYSTEMS[0], *REFS)
    with pytest.raises(DataError, match="there is no folder"):
        run(SYSTEMS[0], *REFS, "--json", str(tmp_path / "no" / "x.json"))


def test_help_is_about_scoring() -> None:
    out = run("--help").output
    assert "meteor_order:" in out
    assert "CANDIDATES..." in out


def test_a_table_for_a_paper(tmp_path: Path) -> None:
    tex = tmp_path / "stories.tex"
    layout = ["--columns", "SODA_c,ANet METEOR", "--sort", "SODA_c", "--scale", "100"]
    out = run(*SYSTEMS, *REFS, "--scores", "SODA_c,activitynet", *layout, "-o", str(tex)).output
    lines = [line.split() for line in out.splitlines()]
    assert lines[1:4] == [
        ["system", "SODA_c"],
        ["concise", "19.29"],
        ["verbose", "7.13"],
    ]
    soda, activitynet = read_tables(tex.read_text())
    assert [row[0] for row in soda.rows] == ["system", "concise", "verbose"]
    assert soda.rows[0] == ["system", r"SODA\_c"]
    assert soda.rows[1] == ["concise", r"\textbf{19.29}"]
    assert "SODA, f: meteor, annotators: mean, missing videos: zero." in soda.caption
    assert r"Scores $\times$ 100." in soda.caption
    assert activitynet.rows[0] == ["system", "METEOR"]
    assert "ActivityNet scorer 2018-11" in activitynet.caption


def test_a_video_is_shown_with_or_without_its_beginning(tmp_path: Path) -> None:
    shown = run("show", *SYSTEMS, *REFS, "--video", "v_dogwash")
    assert shown.exit_code == 0
    assert run("show", *SYSTEMS, *REFS, "--video", "dogwash").output == shown.output
    story = {"dogwash": [{"sentence": "a dog", "timestamp": [0, 4]}]}
    (tmp_path / "truth.json").write_text(json.dumps(story))
    result = run("show", *SYSTEMS, "-r", str(tmp_path / "truth.json"), "--video", "v_dogwash")
    assert "a dog" in result.output
    with pytest.raises(UnknownNameError, match="Unknown video 'cat'"):
        run("show", *SYSTEMS, *REFS, "--video", "cat")
