"""HITs of rankings and comparisons: all shown equally often, sides at random, tests mixed in."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.campaigns.hits.comparisons import build_pair_hits, build_ranking_hits
from reelscore.campaigns.hits.tasks import Shown, Task
from reelscore.errors import DataError, UnknownNameError


def systems(number: int, items: int) -> dict[str, dict[str, str]]:
    return {f"s{k}": {f"v{i}": f"s{k} on {i}" for i in range(items)} for k in range(number)}


def question(k: int, expected: float) -> Task:
    shown = (Shown("right", f"right {k}"), Shown("wrong", f"wrong {k}"))
    return Task(f"q{k}", f"test{k}", shown, expected)


def test_rankings_show_all_systems():
    plan = build_ranking_hits(systems(4, 50), seed=1, per_hit=10)
    assert len(plan.hits) == 5
    for task in plan.tasks:
        assert sorted(s.system for s in task.shown) == ["s0", "s1", "s2", "s3"]
        assert all(s.text == f"{s.system} on {task.item[1:]}" for s in task.shown)
    assert {task.item for task in plan.tasks} == {f"v{i}" for i in range(50)}
    assert set(plan.coverage().captions.values()) == {1}


def test_every_place_is_equally_likely_in_rankings():
    plan = build_ranking_hits(systems(3, 900), seed=1, per_hit=10)
    places = Counter((k, s.system) for task in plan.tasks for k, s in enumerate(task.shown))
    assert all(abs(number - 300) < 5 * 14 for number in places.values())


def test_rankings_wrap_round_and_leave_out():
    lacking = systems(2, 11)
    del lacking["s1"]["v3"]
    plan = build_ranking_hits(lacking, seed=1, per_hit=4)
    assert plan.notes == (
        "1 of 11 items lack a caption of some system.",
        "There are only 10 videos for 12 tasks: some are shown again.",
    )
    assert Counter(plan.coverage().captions.values()) == {1: 16, 2: 4}
    few = build_ranking_hits(lacking, seed=1, per_hit=4, hits=2)
    assert few.notes[1] == "2 of 10 videos are not shown."


def test_pairs_against_the_reference():
    plan = build_pair_hits(systems(4, 30), against="s3", per_hit=9, seed=1)
    assert len(plan.hits) == 10
    pairs = Counter(frozenset(s.system for s in task.shown) for task in plan.tasks)
    assert pairs == {frozenset({f"s{k}", "s3"}): 30 for k in range(3)}
    for hit in plan.hits:  # a video once in a HIT, systems in equal shares
        assert len({task.item for task in hit.tasks}) == 9
        shares = Counter(s.system for task in hit.tasks for s in task.shown if s.system != "s3")
        assert set(shares.values()) == {3}
    first = sum(task.shown[0].system == "s3" for task in plan.tasks)
    assert abs(first - 45) < 4 * 4.8


def test_all_pairs_of_systems():
    plan = build_pair_hits(systems(3, 10), per_hit=5, seed=1)
    pairs = Counter(frozenset(s.system for s in task.shown) for task in plan.tasks)
    assert pairs == {frozenset(p): 10 for p in (("s0", "s1"), ("s0", "s2"), ("s1", "s2"))}


def test_the_same_caption_twice_is_left_out():
    both = systems(2, 10)
    both["s1"]["v4"] = both["s0"]["v4"]
    plan = build_pair_hits(both, per_hit=3, seed=1)
    assert "v4" not in {task.item for task in plan.tasks}
    assert plan.notes == ("1 pairs show the same caption twice and are left out.",)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 50))
def test_test_questions(number, asked, seed):
    tests = [question(k, -2.0) for k in range(number)]
    plan = build_pair_hits(systems(2, 24), per_hit=4, tests=tests, tests_per_hit=asked, seed=seed)
    expected = plan.expected
    count = Counter()
    for hit in plan.hits:
        tested = [task for task in hit.tasks if task.expected is not None]
        assert len(tested) == len({task.item for task in tested}) == min(asked, number)
        count.update(task.item for task in tested)
        for task in tested:
            assert all(shown.kind == "test" for shown in task.shown)
            # below 0 the first is better: the right one must be on the better side
            assert task.shown[0 if expected[task.id] < 0 else 1].system == "right"
    assert max(count.values()) - min(count.values()) <= 1
    assert len({task.id for task in plan.tasks}) == len(plan.tasks)


def test_order_of_input_does_not_matter():
    both = systems(3, 20)
    turned = {name: dict(reversed(both[name].items())) for name in reversed(both)}
    assert build_pair_hits(both, seed=1) == build_pair_hits(turned, seed=1)
    assert build_ranking_hits(both, seed=1) == build_ranking_hits(turned, seed=1)
    assert build_ranking_hits(both, seed=1).hits != build_ranking_hits(both, seed=2).hits


def test_bad_input():
    with pytest.raises(DataError, match="at least two systems; there are 1"):
        build_ranking_hits(systems(1, 5), seed=1)
    with pytest.raises(DataError, match="at least two systems; there are 1"):
        build_pair_hits(systems(1, 5), seed=1)
    with pytest.raises(DataError, match="A HIT of 10 tasks, but there are 5"):
        build_ranking_hits(systems(2, 5), seed=1)
    with pytest.raises(DataError, match="0 HITs"):
        build_ranking_hits(systems(2, 50), seed=1, hits=0)
    with pytest.raises(UnknownNameError, match="Did you mean 's1'"):
        build_pair_hits(systems(2, 50), against="s11", seed=1)
    without = Task("q", "v", (Shown("a", "x"), Shown("b", "y")))
    with pytest.raises(DataError, match="Test question 'q' of item 'v'"):
        build_pair_hits(systems(2, 50), tests=[without], seed=1)
