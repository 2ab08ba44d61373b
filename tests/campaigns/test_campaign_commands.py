"""``reelscore campaign``: from plan to results, on simulated crowds and on published campaigns."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

from reelscore.campaigns.campaign import Campaign
from reelscore.data.tables.table import ScoreTable
from support.campaigns import eacl_batches, published

LAYOUT = "pilot"
SYSTEMS = ("strong.json", "weak.json", "broken.json")
TRUTH = ("--true", "strong=0.3", "--true", "weak=-0.2", "--true", "broken=-0.8")


@pytest.fixture
def new(folder, run):
    """Make a campaign of the example."""

    def make(name="c.db", *more, hits=12):
        status, out, err = run(
            *("campaign", "new", name, *SYSTEMS, "--people", "human.json"),
            *("--layout", LAYOUT, "--hits", hits, *more),
        )
        assert status == 0, err
        return out

    return make


@pytest.fixture
def rehearsed(new, run):
    new(hits=24)
    assert run("campaign", "simulate", "c.db", *TRUTH)[0] == 0
    return "c.db"


def narrow(out):
    return max(map(len, out.splitlines())) <= 80


# Plan


def test_plan(run):
    status, out, err = run("campaign", "plan", "--hits", 94, "--campaigns", 20, "--json", "-")
    assert (status, err) == (0, "")
    data = json.loads(out)
    assert data["chosen"]["captions"] == 1050
    assert round(data["costs"]["total"], 2) == 111.67


def test_plan_shows_what_it_tried(run):
    status, out, _ = run("campaign", "plan", "--difference", 0.5, "--campaigns", 40)
    assert status == 0
    assert "are told\napart with probability" in out
    assert narrow(out)


@pytest.mark.parametrize("wrong", [("--difference", 0), ("--power", 1), ("--layout", "odd")])
def test_plans_that_make_no_sense(run, wrong):
    status, out, err = run("campaign", "plan", *wrong)
    assert (status, out) == (2, "")
    assert err.startswith("Error: ")


# Make


def test_new(new, run):
    out = new()
    assert out.startswith("12 HITs of 40 tasks: 300 captions, 60 repeats, 120 degraded captions")
    status, out, _ = run("campaign", "status", "c.db", "--json", "-")
    assert json.loads(out)["state"] == "draft"
    status, out, _ = run("campaign", "status", "c.db", "--state", "open")
    assert status == 0
    assert out.startswith("c (c): direct-assessment, open\n")
    assert "12 HITs: 0 done, 0 held, 12 open, 0 given up" in out


def test_new_makes_nothing_where_captions_are_missing(folder, run, snapshot):
    before = snapshot()
    status, _, err = run("campaign", "new", "c.db", "strong.json")
    assert (status, err) == (
        2,
        "Error: direct-assessment needs human captions; name a file of references.\n",
    )
    assert snapshot() == before


def test_new_does_not_overwrite(new, run, snapshot):
    new()
    before = snapshot()
    status, _, err = run(
        "campaign", "new", "c.db", *SYSTEMS, "--refs", "refs.json", "--layout", LAYOUT
    )
    assert status == 2
    assert "'c'" in err
    assert snapshot() == before


def test_blind_tasks_tell_nothing(new, run, folder):
    new()
    status, _, _ = run("campaign", "hits", "c.db", "-o", "tasks.csv", "--key", "key.csv")
    assert status == 0
    tasks = list(csv.DictReader((folder / "tasks.csv").read_text().splitlines()))
    key = list(csv.DictReader((folder / "key.csv").read_text().splitlines()))
    assert len(tasks) == len(key) == 480
    assert set(tasks[0]) == {"hit", "position", "task", "item", "slot", "text"}
    text = (folder / "tasks.csv").read_text()
    assert not any(word in text for word in ("strong", "broken", "degraded", "repeat", "caption"))
    assert len({row["task"] for row in tasks}) == 480


# Rehearse, control, results


def test_from_crowd_to_results(rehearsed, run, folder):
    status, out, _ = run("campaign", "quality", rehearsed, "-o", "q.csv", "-o", "q.png")
    assert status == 0
    assert out.splitlines()[0].split() == [
        "rater",
        "verdict",
        "pairs",
        "diff",
        "p",
        "again",
        "s/task",
        "flags",
    ]
    assert narrow(out)
    raters = list(csv.DictReader((folder / "q.csv").read_text().splitlines()))
    assert {row["verdict"] for row in raters} <= {"passed", "failed", "constant"}
    status, out, err = run(
        *("campaign", "results", rehearsed, "--table", "human.csv", "--json", "all.json"),
        *("--html", "page.html", "-o", "wins.svg", "-o", "t.tex", "-o", "t.csv"),
    )
    assert (status, err) == (0, "")
    assert narrow(out)
    passed = sum(row["verdict"] == "passed" for row in raters)
    assert f"by {passed} of {len(raters)} raters" in out
    table = ScoreTable.read(folder / "human.csv")
    assert table.systems == ["human", "strong", "weak", "broken"]
    data = json.loads((folder / "all.json").read_text())
    assert data["ranking"]["systems"][0]["system"] == "human"
    assert data["systems"]["weak"]["z"]["score"] == table["weak"]["z"].score
    page = (folder / "page.html").read_text()
    assert "<title>c</title>" in page
    assert "src=" not in page
    run("score", *SYSTEMS, "human.json", "-r", "refs.json", "-m", "rouge_l", "--table", "m.csv")
    status, out, err = run("meta", "m.csv", "--human", "human.csv|column:z", "--resamples", 50)
    assert (status, out.splitlines()[2].split()[:2]) == (0, ["metric", "pearson"]), err


def test_control_can_be_left_out(rehearsed, run):
    some = run("campaign", "results", rehearsed)[1]
    every = run("campaign", "results", rehearsed, "--no-control")[1]
    assert "control:none" in every
    assert some != every


def test_excluded_raters_do_not_count(rehearsed, run, folder):
    data = json.loads(run("campaign", "quality", rehearsed, "--json", "-")[1])
    with Campaign.open(folder / rehearsed) as campaign:
        campaign.decide("exclude", data["passed"][0], actor="me", reason="asked to")
    data = json.loads(run("campaign", "results", rehearsed, "--json", "-")[1])
    verdicts = {each["rater"]: each["verdict"] for each in data["quality"]["raters"]}
    assert "excluded" in verdicts.values()
    assert all(verdicts[rater] == "passed" for rater in data["raters"])


def test_hits_are_offered_again_and_topped_up(rehearsed, run):
    status, out, err = run("campaign", "offer", rehearsed, "--all")
    assert (status, out) == (0, "")
    with Campaign.open(rehearsed) as campaign:
        number = campaign.status().open
        assert number > 0
        assert len([each for each in campaign.events() if each.what == "offer again"]) == number
    assert err == (f"{number} HITs of {number} raters are offered again; {number} are open.\n")
    assert run("campaign", "offer", rehearsed, "--all")[2].startswith("0 HITs of ")
    status, out, err = run("campaign", "top-up", rehearsed, "--judgments", 150)
    assert status == 0
    assert narrow(out)
    rows = [line.split() for line in out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["broken", "strong", "weak"]
    assert all(int(row[1]) + int(row[2]) >= 150 for row in rows)
    assert "HITs are added" in err
    assert "Nothing is missing" in run("campaign", "top-up", rehearsed, "--judgments", 150)[2]


def test_offers_that_make_no_sense(rehearsed, run):
    for wrong, said in (
        ((), "Name them with --rater"),
        (("--all", "--rater", "r0001"), "Name them with --rater"),
        (("--rater", "nobody"), "Unknown rater 'nobody'"),
    ):
        status, out, err = run("campaign", "offer", rehearsed, *wrong)
        assert (status, out) == (2, "")
        assert said in err
    with Campaign.open(rehearsed) as campaign:
        assert campaign.status().open == 0


def test_nobody_passed(new, run):
    new(hits=2)
    run("campaign", "simulate", "c.db", "--mix", "constant=1")
    status, _, err = run("campaign", "results", "c.db")
    assert status == 2
    assert "passed the quality control" in err


def test_few_judgments_are_no_gold(rehearsed, run):
    status, _, err = run("campaign", "results", rehearsed, "--minimum", 500)
    assert status == 2
    assert "No caption has 500 judgments" in err


def test_replication(rehearsed, new, run):
    new("d.db", hits=24)
    run("campaign", "simulate", "d.db", *TRUTH, "--seed", 7)
    status, out, _ = run("campaign", "replicate", rehearsed, "d.db", "--json", "-")
    assert status == 0
    raw, z = json.loads(out)
    assert (raw["metric"], z["metric"], z["systems"]) == ("raw", "z", 4)
    assert z["pearson"] > 0.9


def test_a_study(run):
    status, out, _ = run("campaign", "study", "--hits", 20, "--campaigns", 2, "--systems", 3)
    assert status == 0
    assert "The true order came out in" in out
    assert narrow(out)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--mix", "lazy=1"), "expected TYPE=SHARE"),
        (("--true", "nobody=1"), "there is no system 'nobody'"),
        (("--true", "a=high"), "expected NAME=Z"),
    ],
)
def test_simulations_that_make_no_sense(run, wrong, message):
    status, _, err = run("campaign", "study", "--campaigns", 1, "--hits", 2, *wrong)
    assert status == 2
    assert message in err


# Other protocols


def test_ranking(folder, run):
    status, _, err = run(
        *("campaign", "new", "r.db", *SYSTEMS, "--protocol", "ranking", "--per-hit", 5),
        *("--raters", 2, "--open"),
    )
    assert status == 0, err
    order = {"strong": 1, "weak": 2, "broken": 3}
    answer(folder / "r.db", lambda task: [order[shown.system] for shown in task.shown])
    status, out, _ = run("campaign", "results", "r.db", "--table", "ranks.csv")
    assert status == 0
    assert narrow(out)
    assert out.splitlines()[1].split()[:2] == ["strong", "1.00"]
    assert ScoreTable.read(folder / "ranks.csv")["weak"]["rank_grammar"].score == 2.0


def test_against_the_reference(folder, run):
    status, _, err = run(
        *("campaign", "new", "r.db", "strong.json", "weak.json", "--refs", "refs.json"),
        *("--protocol", "against-reference", "--per-hit", 5, "--raters", 3, "--open"),
    )
    assert status == 0, err

    def similar_if_strong(task):
        first, second = (shown.system for shown in task.shown)
        worse = 1.0 if second == "reference" else -1.0
        return [0.0 if "strong" in (first, second) else worse]

    answer(folder / "r.db", similar_if_strong)
    status, out, _ = run("campaign", "results", "r.db")
    assert status == 0
    assert [line.split()[:3] for line in out.splitlines()[1:3]] == [
        ["strong", "helpful", "100.0"],
        ["weak", "helpful", "0.0"],
    ]


def test_forced_choice(folder, run):
    run(
        *("campaign", "new", "r.db", "strong.json", "weak.json", "--protocol", "forced-choice"),
        *("--per-hit", 5, "--open"),
    )
    answer(folder / "r.db", lambda task: [-1.0 if task.shown[0].system == "strong" else 1.0])
    status, out, _ = run("campaign", "results", "r.db")
    assert status == 0
    assert "strong  weak" in out
    assert "100.0 (100.0)" in out


def test_stories_with_test_questions(folder, run):
    from reelscore import examples

    (folder / "tests.csv").write_text(
        "item,first,second,expected\nv_dogwash,A man washes a dog.,A cat sleeps.,-2\n"
    )
    stories = [examples.path(f"stories/systems/{name}.json") for name in ("concise", "shuffled")]
    status, _, err = run(
        *("campaign", "new", "s.db", *stories, "--protocol", "preference", "--stories"),
        *("--questions", "tests.csv", "--per-hit", 5, "--raters", 2, "--open"),
    )
    assert status == 0, err

    def better(task, rater):
        if task.expected is not None:
            return [task.expected if rater == "r0" else -task.expected]
        concise = task.shown[0].system == "concise"
        return [-2.0 if concise == (rater == "r0") else 2.0]

    answer(folder / "s.db", better)
    status, out, err = run("campaign", "results", "s.db")
    assert status == 0
    assert "1 of 2 raters passed (1 failed), tested on test questions" in err
    assert out.splitlines()[1].split()[:3] == ["concise", "shuffled", "100.0"]


def answer(path, scores):
    """Let raters do everything there is to do."""
    with Campaign.open(path) as campaign:
        for k in range(50):
            while assignment := campaign.claim(f"r{k}"):
                for task in assignment.remaining:
                    try:
                        given = scores(task, f"r{k}")
                    except TypeError:
                        given = scores(task)
                    answers = {each.name: given for each in campaign.protocol.criteria}
                    campaign.submit(assignment.id, f"r{k}", task.id, answers)
        status = campaign.status()
        assert (status.open, status.held) == (0, 0)


# Published campaigns, by the commands alone


def test_eacl_2017(shared, folder, run):
    """Every p-value, class, segment and document of run A, from the raw batches."""
    source = shared / "da-eacl2017-runA"
    status, _, err = run("campaign", "import", "a.db", *eacl_batches(shared))
    assert status == 0
    assert "10,500 judgments of 63 HITs by 46 raters" in err
    quality = json.loads(run("campaign", "quality", "a.db", "--json", "-")[1])
    p = {row[0]: float(row[1]) for row in published(source / "ad-trk-stats.csv")}
    raters = {r["rater"]: r for r in quality["raters"] if r["verdict"] != "rejected"}
    assert raters.keys() == p.keys()
    assert all(raters[rater]["p"] == pytest.approx(p[rater], rel=1e-6) for rater in p)
    good = [
        rater for rater, verdict in published(source / "ad-trk-stats.class") if verdict == "good"
    ]
    assert sorted(quality["passed"]) == sorted(good)
    run("campaign", "results", "a.db", "--table", "segments.csv")
    segments = ScoreTable.read(folder / "segments.csv")["all"]["z"].items
    for row in published(source / "seg-key-enes")[1:]:
        assert segments[row[3]] == pytest.approx(float(row[4]), abs=1e-6)
    groups = f"{source / 'seg-key-enes'}:NEW.LN:ORIG.TRG.FN"
    run("campaign", "results", "a.db", "--groups", groups, "--table", "documents.csv")
    documents = ScoreTable.read(folder / "documents.csv")["all"]
    for row in published(source / "doc-key-enes.csv")[1:]:
        assert documents["z"].items[row[1]] == pytest.approx(float(row[2]), abs=1e-6)
        assert documents["raw"].items[row[1]] == pytest.approx(float(row[3]), abs=1e-6)


@pytest.mark.parametrize("pair", ["cs-en", pytest.param("zh-en", marks=pytest.mark.full)])
def test_wmt22(shared, folder, run, pair):
    source, name = shared / "da-wmt22", pair.replace("-", "")
    assert run("campaign", "import", "w.db", source / f"ad-{name}-good-stnd.csv")[0] == 0
    data = json.loads(run("campaign", "results", "w.db", "--json", "-")[1])
    for raw, z, _, system, _ in published(source / f"ad-sys-scores-{pair}.csv")[1:]:
        assert data["systems"][system]["raw"]["score"] == pytest.approx(float(raw), abs=1e-6)
        assert data["systems"][system]["z"]["score"] == pytest.approx(float(z), abs=1e-6)
    rows = published(source / f"adwilcox-{name}.csv", " ")
    p = np.array(data["ranking"]["p"], dtype=float)
    for k, row in enumerate(rows[1:]):
        for other, text in enumerate(row[1:]):
            if float(text) != 0.12:
                wanted = math.log10(float(text))
                assert math.log10(p[k, other]) == pytest.approx(wanted, abs=1e-9)
    wins = [int(row[2]) for row in published(source / "clusters.csv") if row[0] == pair[:2]]
    assert [each["wins"] for each in data["ranking"]["systems"]] == wins


# Files


def test_everything_survives_plain_files(rehearsed, run, folder):
    for name in ("c.jsonl", "files"):
        assert run("campaign", "export", rehearsed, name)[0] == 0
        assert run("campaign", "import", f"{name}.db", name)[0] == 0
        assert run("campaign", "export", f"{name}.db", f"again-{name}")[0] == 0
    assert (folder / "c.jsonl").read_bytes() == (folder / "again-c.jsonl").read_bytes()
    for path in (folder / "files").iterdir():
        assert path.read_bytes() == (folder / "again-files" / path.name).read_bytes()


def test_judgments_as_a_table(rehearsed, run, folder):
    assert run("campaign", "export", rehearsed, "j.csv", "--judgments")[0] == 0
    assert run("campaign", "import", "j.db", "j.csv")[0] == 0
    one, other = (run("campaign", "results", name, "--json", "-")[1] for name in ("c.db", "j.db"))
    assert json.loads(one)["systems"] == json.loads(other)["systems"]


def test_judgments_of_a_campaigns_own_tasks(new, run, folder):
    """Judgments from elsewhere come in once; unknown tasks and doubles change nothing."""
    new("c.db", "--raters", "2", hits=2)
    new("d.db", hits=2)
    run("campaign", "simulate", "d.db")
    run("campaign", "export", "d.db", "j.csv", "--judgments")
    status, _, err = run("campaign", "import", "c.db", "j.csv")
    assert (status, err) == (0, "80 judgments are added to 'c'.\n")
    before = (folder / "c.db").read_bytes()
    status, _, err = run("campaign", "import", "c.db", "j.csv")
    assert status == 2
    text = (folder / "j.csv").read_text().replace("r0001", "r9")
    head, first, rest = text.split("\n", 2)
    cells = first.split(",")
    cells[2] = "nosuchtask"
    (folder / "k.csv").write_text("\n".join([head, ",".join(cells), rest]))
    status, _, err = run("campaign", "import", "c.db", "k.csv")
    assert status == 2
    assert "nosuchtask" in err
    assert json.loads(run("campaign", "status", "c.db", "--json", "-")[1])["judgments"] == 80
    assert (folder / "c.db").read_bytes() == before


def test_one_judgment_is_counted_as_one(folder, run):
    (folder / "j.csv").write_text("rater,system,item,score\nr,s,v,50\n")
    _, _, err = run("campaign", "import", "x.db", "j.csv")
    assert err == "x.db, campaign 'x': 1 judgment of 1 HIT by 1 rater.\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("j.csv", "rater,item,score\nr,v,1\n", "no column system"),
        ("j.csv", "rater,system,item,score\nr,s,v,101\n", "expected a number from 0 to 100"),
        ("j.csv", "rater,system,item,score\nr,s,v,1\nr,s,v,1\n", "twice"),
        ("c.jsonl", "{}\n", "c.jsonl"),
    ],
)
def test_bad_files_make_no_campaign(folder, run, snapshot, name, text, message):
    (folder / name).write_text(text)
    before = snapshot()
    status, out, err = run("campaign", "import", "x.db", name)
    assert (status, out) == (2, "")
    assert message in err
    assert snapshot() == before


# Files about people


def test_files_about_people_are_for_their_owner(rehearsed, run, folder):
    made = {
        "judgments.csv": ("export", "c.db", "judgments.csv", "--judgments"),
        "quality.csv": ("quality", "c.db", "-o", "quality.csv"),
        "quality.json": ("quality", "c.db", "--json", "quality.json"),
        "results.json": ("results", "c.db", "--json", "results.json"),
        "key.csv": ("hits", "c.db", "--key", "key.csv"),
    }
    for name, command in made.items():
        status, _, err = run("campaign", *command)
        assert status == 0, err
        assert (folder / name).stat().st_mode & 0o777 == 0o600, name


def test_a_pilot_of_six_clips_from_captions_to_results(folder, run):
    """In one go: nobody can be tested on six pairs, the scores are shown, and that is said."""
    from reelscore import examples

    systems, references = examples.clips()
    clips = sorted(references)[:6]
    for name in ("strong", "weak"):
        captions = {clip: systems[name][clip] for clip in clips}
        (folder / f"{name}.json").write_text(json.dumps(captions))
    (folder / "refs.json").write_text(json.dumps({clip: references[clip] for clip in clips}))
    made = ("campaign", "new", "six.db", "strong.json", "weak.json", "--refs", "refs.json")
    status, _, err = run(*made)
    assert status == 2
    assert "pilot fits itself to small sets" in " ".join(err.split())
    status, out, err = run(*made, "--layout", "pilot", "--raters", 3)
    assert status == 0, err
    assert "A HIT has 6 pairs of a caption and its degraded caption" in " ".join(out.split())
    assert run("campaign", "simulate", "six.db", "--bad", 0)[0] == 0
    status, out, err = run("campaign", "results", "six.db")
    assert status == 0, err
    assert "by 3 of 3 raters" in out
    said = " ".join(out.split())
    assert "Nobody gave the 10 pairs of a caption and its degraded caption" in said
    assert "15 captions judged twice by a rater, r 0." in said
    assert "of 3 raters passed" in run("campaign", "quality", "six.db", "--quality", "pairs:6")[1]
