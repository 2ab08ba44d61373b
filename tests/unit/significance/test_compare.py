"""Significance of the differences between systems, scored now or read from a file."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reelscore import DataError, ScoreTable, UnknownNameError, compare, score_systems, stories
from reelscore.cli.commands.compare import command
from reelscore.examples import clips, path
from reelscore.examples import stories as example_stories
from reelscore.metrics.registry import metric_names
from reelscore.significance import rank_systems
from reelscore.significance.comparison import strictest
from reelscore.significance.pair_tests import with_tests

SYSTEMS, REFERENCES = clips()
LEARNED = ("bertha", "sts", "fusion")
# these have tests of their own: they need a model, videos, or the choice of a language
ELSEWHERE = ("judge", "bertscore", "clipscore", "refclipscore", "emscore", "meteor_universal")
ELSEWHERE += ("recall_within", "critic", "questions")  # or longer films, or files
COUNTED = [name for name in metric_names() if name not in (*LEARNED, *ELSEWHERE, "spice")]
CLIPS = [str(path(f"clips/systems/{name}.json")) for name in ("human", "strong", "weak")]
QUICK = ["--resamples", "100", "--test", "trials:100"]


@pytest.fixture(scope="module")
def table():
    return score_systems(SYSTEMS, REFERENCES, "bleu|n:2,rouge_l,self_bleu")


def few(table, *args, **options):
    return compare(table, *args, **{"resamples": 300, "trials": 500, **options})


def pairs(table, *args, **options):
    """All pairs with the metric and the test."""
    comparisons = few(table, *args, **options)
    return {(p.system, each.metric, each.test): p for each in comparisons for p in each.pairs}


def test_against_a_baseline(table):
    comparisons = few(table, "human")
    assert {(pair.system, pair.other) for each in comparisons for pair in each.pairs} == {
        ("strong", "human"),
        ("weak", "human"),
        ("broken", "human"),
    }
    # three systems, three scores, two tests; self_bleu cannot be resampled
    assert len(pairs(table, "human")) == 3 * 3 * 2
    tested = {each.metric for each in comparisons if each.method}
    assert tested == {"bleu_1", "bleu_2", "rouge_l"}
    for each in comparisons:
        for pair in each.pairs:
            difference = table[pair.system][each.metric].score - table["human"][each.metric].score
            assert pair.difference == difference
            assert pair.p <= pair.p_corrected <= 1
            worse = pair.p_corrected < 0.05 and difference < 0
            assert (pair.verdict == "worse") == worse
    json.dumps([pair for each in comparisons for pair in each.pair_dicts()], allow_nan=False)


def test_known_situations(table):
    tested = pairs(table, "human")
    for test in ("bootstrap", "randomization"):
        assert tested["broken", "rouge_l", test].p_corrected < 0.01  # worse by design
        assert tested["strong", "rouge_l", test].p_corrected > 0.05  # nearly as good


def test_intervals_of_differences(table):
    for (_, _, test), pair in pairs(table, "human").items():
        assert (pair.interval is None) == (test == "randomization")
        if pair.interval is not None:
            low, high = pair.interval
            assert low <= pair.difference <= high
            if pair.p < 0.01:
                assert high < 0
    turned = [pair for each in few(table, tests=["bootstrap"]) for pair in each.pairs]
    first, same = turned[0], pairs(table, "human")["strong", "bleu_1", "bootstrap"]
    assert (first.system, first.other) == (same.other, same.system)
    assert first.interval == pytest.approx((-same.interval[1], -same.interval[0]))


def test_all_pairs(table):
    comparisons = few(table, tests=["randomization"])
    assert len({(pair.system, pair.other) for each in comparisons for pair in each.pairs}) == 6


def test_a_system_and_its_copy():
    table = score_systems({"one": SYSTEMS["weak"], "two": SYSTEMS["weak"]}, REFERENCES, "rouge_l")
    tested = [pair for each in few(table, "one") for pair in each.pairs]
    assert [pair.p for pair in tested] == [1.0, 1.0]
    assert [pair.difference for pair in tested] == [0.0, 0.0]


def test_corrections_are_by_metric_and_test(table):
    none = pairs(table, "human", correction="none")
    raw = {key: pair.p for key, pair in none.items()}
    assert {key: pair.p_corrected for key, pair in none.items()} == raw
    most = pairs(table, "human", correction="bonferroni")
    corrected = {key: pair.p_corrected for key, pair in most.items()}
    assert corrected == pytest.approx({key: min(1, 3 * p) for key, p in raw.items()})


def test_the_strictest_test_decides(table):
    comparisons = few(table, "human")
    for each in strictest(comparisons):
        both = [other for other in comparisons if other.metric == each.metric and other.method]
        for k, pair in enumerate(each.pairs):
            own = [list(other.pairs)[k].p_corrected for other in both]
            assert pair.p_corrected == max(own)
            assert len(own) == 2
    assert strictest(comparisons)[0].about == (
        "paired bootstrap, 300 draws and approximate randomization, 500 draws; correction: holm"
    )


def test_seeds(table):
    one = pairs(table, "human", seed=1)
    assert one == pairs(table, "human", seed=1)
    assert one != pairs(table, "human", seed=2)
    assert {each.signature for each in few(table, "human", seed=1) if each.method} == {
        "bootstrap|holm|draws:300|seed:1",
        "randomization|holm|draws:500|seed:1",
    }


def test_refused(table):
    with pytest.raises(UnknownNameError, match="Did you mean 'human'"):
        few(table, "humann")
    with pytest.raises(UnknownNameError, match="test"):
        few(table, "human", tests=["t-test"])
    with pytest.raises(UnknownNameError, match="correction"):
        few(table, "human", correction="sidak")
    with pytest.raises(DataError, match="at least two"):
        few(ScoreTable({"human": table["human"]}))
    with pytest.raises(DataError, match="No test for self_bleu: depends on all captions"):
        few(score_systems(SYSTEMS, REFERENCES, "self_bleu"))


@pytest.mark.parametrize("bad", [{"resamples": 0}, {"trials": 0}, {"seed": -1}])
def test_bad_numbers(table, bad):
    with pytest.raises(DataError):
        few(table, "human", **bad)


def test_other_items_are_refused():
    systems = {"one": {"v1": "a", "v2": "b"}, "two": {"v1": "a"}}
    table = score_systems(systems, {"v1": ["a"], "v2": ["b"]}, "rouge_l", missing="skip")
    with pytest.raises(DataError, match="different items"):
        few(table)


def test_progress(table):
    calls = []
    few(table, "human", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (12, 12)  # two metrics, three pairs, two tests


def test_ranks_of_people_are_the_same_kind_of_result():
    people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    ranking = rank_systems(people, "judgments")
    _, [tested] = with_tests(people, human=["judgments"])
    assert type(ranking) is type(few(people, tests=["bootstrap"])[0])
    assert list(ranking.pairs) == list(tested.pairs)
    assert ranking.verdict(ranking.systems[0], ranking.systems[-1]) == "better"
    json.dumps(ranking.to_dict(), allow_nan=False)


# Stored tables


def outcome(comparisons):
    return [(c.metric, c.test, c.about, c.untested, list(c.pairs)) for c in comparisons]


def tuples_of_words(folder):
    """Tuples for SPICE without a parser: words are objects, "two" is an attribute."""
    texts = [text for captions in SYSTEMS.values() for text in captions.values()]
    texts += [text for captions in REFERENCES.values() for text in captions]
    lines = [{"test": text, "test_tuples": [[word] for word in text.split()]} for text in texts]
    for line in lines:
        line["test_tuples"] += [["thing", word] for word in line["test"].split() if word == "two"]
    file = folder / "tuples.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.mark.parametrize("metric", [*COUNTED, "spice"])
def test_stored_tables_give_the_same_results(metric, tmp_path):
    if metric == "spice":
        metric = f"spice|tuples:{tuples_of_words(tmp_path)}"
    table = score_systems(SYSTEMS, REFERENCES, dict.fromkeys([metric, "rouge_l"]))
    table.write(tmp_path / "scores.json")
    stored = ScoreTable.read(tmp_path / "scores.json")
    assert stored.notes == table.notes
    assert outcome(few(stored, "weak")) == outcome(few(table, "weak"))
    (fresh, tests), (again, same) = with_tests(table), with_tests(stored)
    assert outcome(same) == outcome(tests)
    for system in table.systems:
        assert {n: r.interval for n, r in again[system].items()} == {
            n: r.interval for n, r in fresh[system].items()
        }


@pytest.mark.parametrize("metric", LEARNED)
def test_learned_metrics_are_means(metric):
    """Their stored scores are tested as they are, without statistics."""
    from reelscore.learned.metrics.bertha import Bertha
    from reelscore.learned.metrics.fusion import Fusion
    from reelscore.learned.metrics.sts import Sts

    declared = {"bertha": Bertha, "fusion": Fusion, "sts": Sts}[metric]
    made = object.__new__(declared)
    for name, field in declared.__dataclass_fields__.items():
        object.__setattr__(made, name, field.default)
    assert made.scale_of(metric).mean is True


def test_stored_stories_give_the_same_results(tmp_path):
    systems, annotators = example_stories()
    table = stories.score_systems(systems, annotators.values(), metrics="meteor,bleu")
    table.write(tmp_path / "scores.json")
    stored = ScoreTable.read(tmp_path / "scores.json")
    assert stored.notes == []
    assert outcome(few(stored, "concise")) == outcome(few(table, "concise"))
    assert {c.metric for c in few(stored, "concise") if c.method} >= {"soda_c", "anet_f1"}


def test_tables_without_statistics(table, tmp_path):
    table.write(tmp_path / "t.json", statistics=False)
    stored = ScoreTable.read(tmp_path / "t.json")
    tested = {each.metric: each for each in few(stored, "human", tests=["bootstrap"])}
    assert tested["rouge_l"].verdict("broken", "human") == "worse"
    assert tested["bleu_1"].verdict("broken", "human") == "untested"
    assert "score the captions again" in tested["bleu_1"].untested
    only = ScoreTable({s: {"bleu_1": row["bleu_1"]} for s, row in stored.results.items()})
    with pytest.raises(
        DataError, match=r"No test for bleu_1: made from sums .* score the captions"
    ):
        few(only)


def test_statistics_that_do_not_fit_are_not_used(table, tmp_path):
    plain = table.to_dict()
    plain["statistics"]["weak"][0]["columns"][0][0] += 1
    del plain["statistics"]["human"][0]["columns"][0][0]
    plain["systems"]["broken"]["bleu_1"]["signature"] = "unknown_metric|v:1"
    (tmp_path / "t.json").write_text(json.dumps(plain))
    stored = ScoreTable.read(tmp_path / "t.json")
    assert stored["weak"]["bleu_1"].statistics is None
    assert stored["strong"]["bleu_1"].statistics is not None
    assert sorted(stored.notes) == [
        "bleu_1, bleu_2: the stored statistics are not used: another version of the metric made "
        "them.",
        "bleu_1, bleu_2: the stored statistics are not used: the metric cannot be loaded here.",
        "bleu_1, bleu_2: the stored statistics are not used: they are of other items than the "
        "scores.",
    ]


def test_tables_of_a_newer_format_are_refused(table, tmp_path):
    (tmp_path / "t.json").write_text(json.dumps({**table.to_dict(), "format": 99}))
    with pytest.raises(DataError, match="format 99 of a newer reelscore"):
        ScoreTable.read(tmp_path / "t.json")


def test_scores_made_in_different_ways_are_refused():
    one = score_systems({"one": SYSTEMS["weak"]}, REFERENCES, "rouge_l")
    other = score_systems({"two": SYSTEMS["weak"]}, REFERENCES, "rouge_l|beta:2")
    both = ScoreTable({**one.results, **other.results})
    with pytest.raises(DataError, match="rouge_l of one and of two was made in different ways"):
        few(both)


# The command


def run(*arguments):
    command.main([*map(str, arguments), *QUICK], standalone_mode=False)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    systems = {name: SYSTEMS[name] for name in ("human", "strong", "weak")}
    table = score_systems(systems, REFERENCES, "bleu,meteor,self_bleu")
    table.write("scores.json")
    table.write("scores.csv")
    for name in systems:
        replace(table, results={name: table[name]}).write(f"{name}.json")
    return tmp_path


def test_the_command_takes_tables(files, capsys):
    run(*CLIPS, "-r", path("clips/references.json"), "-m", "bleu,meteor,self_bleu")
    from_captions = capsys.readouterr().out
    run("scores.json")
    assert capsys.readouterr().out == from_captions
    run("human.json", "strong.json", "weak.json")
    assert capsys.readouterr().out == from_captions
    run("a=human.json", "b=weak.json", "-m", "meteor", "--json", "out.json")
    assert "Differences from a, with 95 % intervals" in capsys.readouterr().out
    assert {
        each["metric"] for each in json.loads((files / "out.json").read_text())["comparisons"]
    } == {"meteor"}
    run("out.json", "-m", "meteor", "--all-pairs")  # what compare writes is a table, too
    assert "b b     0.1307" in capsys.readouterr().out


def test_the_command_says_what_is_missing(files):
    with pytest.raises(DataError, match=r"No test for bleu_1.*keep the table as JSON"):
        run("scores.csv", "-m", "bleu_1,meteor")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scores.json", CLIPS[0]], "is a score table and .* is not"),
        (["scores.json", "-r", "refs.json"], "leave --refs out"),
        (["x=scores.json"], "has 3 systems; NAME=FILE names the only system"),
        (["human.json", "human.json"], "Two tables have bleu_1 of 'human'"),
        (["scores.json", "-m", "spice"], "score 'spice'"),
    ],
)
def test_the_command_refuses(files, arguments, message):
    with pytest.raises((DataError, UnknownNameError), match=message):
        run(*arguments)
