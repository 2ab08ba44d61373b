"""HITs of ratings: what they consist of, how far twins stand apart, how evenly all is covered."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.campaigns.hits.distribution import Hand, deal, new_names, spaced
from reelscore.campaigns.hits.layouts import LAYOUTS, HitLayout, layout
from reelscore.campaigns.hits.ratings import build_hits
from reelscore.errors import DataError, UnknownNameError
from reelscore_studies.judged.trecvid_ha import load

SMALL = "systems:20 humans:4 degraded_humans:4 repeated_systems:3 distance:3 least_pairs:0"


def captions(system: str, items: int) -> dict[str, str]:
    return {f"v{k}": f"{system} says a b c d e {k}" for k in range(items)}


def systems(number: int, items: int) -> dict[str, dict[str, str]]:
    return {f"s{k}": captions(f"s{k}", items) for k in range(number)}


PEOPLE = captions("people", 200)


def kinds(hit) -> Counter:
    return Counter((shown_of(t).system == "human", shown_of(t).kind) for t in hit.tasks)


def shown_of(task):
    (shown,) = task.shown
    return shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "trecvid",  # (human?, kind): how many
            {
                (False, "caption"): 70,
                (False, "repeat"): 5,
                (True, "caption"): 10,
                (True, "degraded"): 10,
                (True, "repeat"): 5,
            },
        ),
        (
            "wmt",
            {
                (False, "caption"): 70,
                (False, "degraded"): 10,
                (False, "repeat"): 10,
                (False, "reference"): 10,
            },
        ),
        (
            "appraise",
            {
                (False, "caption"): 80,
                (False, "degraded"): 10,
                (False, "repeat"): 5,
                (False, "reference"): 5,
            },
        ),
    ],
)
def test_named_layouts(name, expected):
    plan = build_hits(systems(5, 200), PEOPLE, layout=name, seed=1)
    assert all(kinds(hit) == expected for hit in plan.hits)
    for hit in plan.hits:
        check_hit(hit, LAYOUTS[name])


def check_hit(hit, layout):
    """Twins fit their captions and stand apart; nothing else is shown twice."""
    places: dict[tuple[str, str], list[int]] = {}
    texts = Counter()
    originals = {}
    for place, task in enumerate(hit.tasks):
        shown = shown_of(task)
        places.setdefault((shown.system, task.item), []).append(place)
        if shown.kind == "caption":
            originals[shown.system, task.item] = shown.text
        if shown.kind != "repeat":
            texts[task.item, shown.text] += 1
    assert set(texts.values()) == {1}
    for task in hit.tasks:
        shown = shown_of(task)
        original = originals[shown.system, task.item]
        assert (shown.text == original) == (shown.kind in ("caption", "repeat"))
    nearest = min(abs(a - b) for each in places.values() for a, b in combinations(each, 2))
    assert nearest >= (41 if layout.sets == 10 else layout.distance)
    if layout.sets == 10:
        assert max(abs(a - b) for each in places.values() for a, b in combinations(each, 2)) <= 59
        assert max(map(len, places.values())) == 2


@given(
    st.integers(1, 6), st.integers(1, 40), st.integers(1, 9), st.integers(0, 100), st.integers(1, 4)
)
def test_coverage_is_even(number, items, hits, seed, share):
    size = max(1, number * items // share)
    small = HitLayout(size, least_pairs=0)
    plan = build_hits(systems(number, items), {}, layout=small, hits=hits, seed=seed)
    coverage = plan.coverage()
    for counts in (
        [coverage.systems.get(f"s{k}", 0) for k in range(number)],
        [coverage.captions.get((f"s{k}", f"v{i}"), 0) for k in range(number) for i in range(items)],
    ):
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == hits * size
    for hit in plan.hits:
        shares = Counter(shown_of(task).system for task in hit.tasks)
        assert max(shares.values()) - min(shares.get(f"s{k}", 0) for k in range(number)) <= 1
        assert max(Counter((shown_of(t).system, t.item) for t in hit.tasks).values()) == 1


def test_every_caption_once_by_default():
    plan = build_hits(systems(4, 35), PEOPLE, layout=SMALL, seed=1)
    assert len(plan.hits) == 7
    coverage = plan.coverage()
    assert coverage.systems == {"human": 28, "s0": 35, "s1": 35, "s2": 35, "s3": 35}
    assert set(coverage.captions.values()) == {1}
    assert plan.notes == ()


def test_a_video_once_in_a_hit_where_there_are_enough():
    plan = build_hits(systems(6, 60), PEOPLE, layout=SMALL, seed=1)
    for hit in plan.hits:
        items = Counter(task.item for task in hit.tasks if shown_of(task).kind == "caption")
        assert max(items.values()) == 1


def test_twins_are_shared_out_evenly_between_systems():
    plan = build_hits(systems(5, 140), PEOPLE, layout="wmt", seed=1)
    for kind in ("degraded", "repeat", "reference"):
        counts = Counter(shown_of(t).system for t in plan.tasks if shown_of(t).kind == kind)
        assert max(counts.values()) - min(counts.values()) <= 2


def test_captions_begin_anew_and_say_so():
    plan = build_hits(systems(2, 30), PEOPLE, layout=SMALL, hits=4, seed=1)
    assert "60 captions of systems for 80 tasks" in plan.notes[0]
    assert set(plan.coverage().captions.values()) == {1, 2}
    few = build_hits(systems(2, 30), PEOPLE, layout=SMALL, hits=2, seed=1)
    assert few.notes == ("20 of 60 captions of systems are not shown.",)


def test_same_text_of_two_systems_never_in_one_hit():
    # s1 says what s0 says, in every video: 30 different captions in HITs of 15
    one = captions("s0", 30)
    plan = build_hits({"s0": one, "s1": one}, {}, layout="systems:15 least_pairs:0", seed=1)
    assert len(plan.hits) == 4
    for hit in plan.hits:
        assert len({(task.item, shown_of(task).text) for task in hit.tasks}) == 15
    assert set(plan.coverage().captions.values()) == {1}


@given(st.integers(0, 200))
def test_same_texts_are_exchanged_between_hits(seed):
    # two thirds of the captions have a double; every HIT has nearly half of the texts
    one, other = captions("s0", 12), captions("s1", 12)
    other |= {item: text for item, text in one.items() if int(item[1:]) % 3}
    plan = build_hits(
        {"s0": one, "s1": other}, {}, layout="systems:8 least_pairs:0", hits=6, seed=seed
    )
    for hit in plan.hits:
        assert len({(task.item, shown_of(task).text) for task in hit.tasks}) == 8
    assert set(plan.coverage().captions.values()) == {2}


@given(st.integers(0, 200))
def test_same_texts_are_exchanged_where_videos_must_come_twice(seed):
    # four videos in HITs of five; s0 and s1 say the same of v0
    three = systems(3, 4)
    three["s1"]["v0"] = three["s0"]["v0"]
    plan = build_hits(three, {}, layout="systems:5 least_pairs:0", hits=12, seed=seed)
    for hit in plan.hits:
        assert len({(task.item, shown_of(task).text) for task in hit.tasks}) == 5
    assert set(plan.coverage().captions.values()) == {5}


def test_sets_mix_systems():
    plan = build_hits(systems(10, 70), PEOPLE, layout="wmt", seed=1)
    mixed = [
        len({shown_of(task).system for task in hit.tasks[k : k + 10]})
        for hit in plan.hits
        for k in range(0, 100, 10)
    ]
    assert min(mixed) >= 3


@given(st.integers(0, 50))
def test_a_reference_comes_once(seed):
    # three systems share twelve videos: captions of a video come together, references do not
    few = HitLayout(24, degraded_systems=2, references=10, distance=2, least_pairs=0)
    for hit in build_hits(systems(3, 12), PEOPLE, layout=few, seed=seed).hits:
        references = [t.item for t in hit.tasks if shown_of(t).kind == "reference"]
        assert len(set(references)) == 10


def test_human_captions_that_a_system_repeats():
    # a system that copies people: its caption and theirs of a video are never together
    people = captions("people", 40)
    plan = build_hits({"copy": people, "s1": captions("s1", 40)}, people, layout=SMALL, seed=2)
    for hit in plan.hits:
        check_hit(hit, HitLayout.parse(SMALL))


def test_human_captions_of_some_items_only():
    people = {f"v{k}": text for k, text in enumerate(captions("people", 9).values())}
    people["elsewhere"] = "a caption of a video that no system has"
    plan = build_hits(systems(3, 40), people, layout=SMALL, seed=1)
    human = {task.item for task in plan.tasks if shown_of(task).system == "human"}
    assert human == {f"v{k}" for k in range(9)}
    assert "31 of 40 items have no human caption." in plan.notes


def test_systems_with_fewer_captions():
    both = {"s0": captions("s0", 60), "s1": captions("s1", 30)}
    plan = build_hits(both, {}, layout="systems:9 least_pairs:0", seed=1)
    assert plan.coverage().systems == {"s0": 60, "s1": 30}
    assert all(
        5 <= Counter(shown_of(task).system for task in hit.tasks)["s0"] <= 7 for hit in plan.hits
    )
    assert "from 30 to 60 captions" in plan.notes[0]
    assert plan.notes[1] == "30 of 60 items have captions of all systems."


def test_systems_with_other_items():
    """As many captions, but of another split."""
    other = {f"other {item}": text for item, text in captions("s1", 60).items()}
    both = {"s0": captions("s0", 60), "s1": other}
    plan = build_hits(both, {}, layout="systems:9 least_pairs:0", seed=1)
    assert "0 of 120 items have captions of all systems." in plan.notes


def test_order_of_input_does_not_matter_but_the_seed_does():
    both = systems(3, 30)
    turned = {name: dict(reversed(both[name].items())) for name in reversed(both)}
    people = dict(reversed(PEOPLE.items()))
    plan = build_hits(both, PEOPLE, layout=SMALL, seed=5)
    assert build_hits(turned, people, layout=SMALL, seed=5) == plan
    assert build_hits(both, PEOPLE, layout=SMALL, seed=6).hits != plan.hits


def test_names_are_different_and_tell_nothing():
    plan = build_hits(systems(5, 200), PEOPLE, seed=1)
    names = [task.id for task in plan.tasks] + [hit.id for hit in plan.hits]
    assert len(set(names)) == len(names)
    # sorted by name, kinds come in no order: as many runs as chance gives
    degraded = [shown_of(t).kind == "degraded" for t in sorted(plan.tasks, key=lambda t: t.id)]
    middle = sum(degraded[: len(degraded) // 2])
    assert abs(middle - sum(degraded) / 2) < 3 * (sum(degraded) / 4) ** 0.5


def test_bad_input():
    with pytest.raises(DataError, match="shows 70 different captions of systems, but there are 30"):
        build_hits(systems(3, 10), PEOPLE, seed=1)
    with pytest.raises(DataError, match="shows 10 human captions, but there are 5"):
        build_hits(systems(3, 100), captions("people", 5), seed=1)
    with pytest.raises(DataError, match="'s1' is the name of a system"):
        build_hits(systems(3, 100), PEOPLE, human="s1", seed=1)
    with pytest.raises(DataError, match=r"1 caption is empty \(first: 's0', item 'v3'\)"):
        build_hits({"s0": captions("s0", 100) | {"v3": " "}}, PEOPLE, seed=1)
    with pytest.raises(DataError, match="0 HITs"):
        build_hits(systems(3, 100), PEOPLE, hits=0, seed=1)
    with pytest.raises(DataError, match="10 references of captions"):
        build_hits(systems(3, 100), captions("people", 2), layout="wmt", seed=1)
    with pytest.raises(UnknownNameError, match="Did you mean 'trecvid'"):
        build_hits(systems(3, 100), PEOPLE, layout="trecvd", seed=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("systems:70 humans:10", "0 pairs of a caption and its degraded caption"),
        ("systems:70 humans:5 degraded_humans:10", "cannot have 10 degraded"),
        ("systems:20 degraded_systems:15 repeated_systems:6", "cannot have 21 that are degraded"),
        ("systems:0 least_pairs:0", "at least 1"),
        ("systems:-3 least_pairs:0", "each part once, as name:number"),
        ("systems:3 systems:4", "each part once"),
        ("humans:10", "no captions of systems"),
        ("systems:70 degraded_systems:10 sets:3", "even number that divides"),
        ("systems:70 degraded_systems:10 sets:4", "even number that divides"),
    ],
)
def test_bad_layouts(text, message):
    with pytest.raises(DataError, match=message):
        layout(text)


def test_layouts_by_words():
    for each in LAYOUTS.values():
        assert HitLayout.parse(str(each)) == each
        assert each.size == (40 if each == LAYOUTS["pilot"] else 100)
        assert each.pairs == 10
    with pytest.raises(UnknownNameError, match="part of a layout 'sytems'"):
        layout("sytems:70")
    with pytest.raises(UnknownNameError, match="rule set"):
        layout("systems:70 degraded_systems:10 rules:none")
    with pytest.raises(DataError, match="humans:-1"):
        HitLayout(10, humans=-1)


@given(st.lists(st.integers(0, 12), max_size=40), st.integers(1, 6), st.integers(0, 99))
def test_twins_keep_their_distance(groups, distance, seed):
    try:
        order = spaced(groups, distance, random.Random(seed))
    except DataError:  # too many of one group
        return
    assert sorted(order) == list(range(len(groups)))
    last: dict[int, int] = {}
    for place, task in enumerate(order):
        assert place - last.get(groups[task], -distance) >= distance
        last[groups[task]] = place


def test_orders_are_equally_likely():
    # of five tasks, 0 and 1 are twins, 3 apart at least: places 0+3, 0+4, 1+4 either way
    counts = Counter(
        tuple(sorted(map(spaced(["a", "a", "b", "c", "d"], 3, random.Random(k)).index, (0, 1))))
        for k in range(3000)
    )
    assert counts.keys() == {(0, 3), (0, 4), (1, 4)}
    assert all(abs(number - 1000) < 5 * 26 for number in counts.values())  # 26: one sigma


def test_places_in_a_hit_are_equally_likely():
    plan = build_hits(systems(5, 200), PEOPLE, hits=100, seed=1)
    early = sum(
        place < 50
        for hit in plan.hits
        for place, task in enumerate(hit.tasks)
        if shown_of(task).kind == "degraded"
    )
    assert abs(early - 500) < 5 * 16


def test_no_order_is_far_enough():
    far = HitLayout(70, 10, degraded_humans=10, repeated_humans=10, distance=60)
    with pytest.raises(DataError, match="keeps captions and their controls 60 tasks apart"):
        build_hits(systems(5, 100), PEOPLE, layout=far, seed=1)


def test_tight_order_is_found():
    layout = HitLayout(10, 10, degraded_humans=10, distance=12)
    for hit in build_hits(systems(2, 50), PEOPLE, layout=layout, seed=1).hits:
        check_hit(hit, layout)


def test_a_hand_that_cannot_be_filled():
    with pytest.raises(DataError, match="same caption of item 'v0' twice"):
        deal({"a": {"v0": ("text",)}}, [Hand()], 2, random.Random(1))


def test_names_never_repeat():
    class Stuck(random.Random):
        values = iter([1, 1, 2])

        def getrandbits(self, _):
            return next(self.values)

    names = new_names(Stuck())
    assert [next(names), next(names)] == ["000000000001", "000000000002"]


@pytest.mark.shared
@pytest.mark.parametrize(("folder", "hits"), [("SA-2016", 134), ("SA-2017", 350), ("SA-2020", 146)])
def test_trecvid(shared, folder, hits):
    """All systems of a year: even to the last caption, a video once in a HIT."""
    data = load(shared / "trecvid-vtt-ha", folder)
    plan = build_hits(data.candidates, data.annotators["HUMAN-A"], seed=7)
    assert len(plan.hits) == hits
    coverage = plan.coverage()
    human = coverage.systems.pop("human")
    assert human == 10 * hits
    assert max(coverage.systems.values()) - min(coverage.systems.values()) <= 1
    counts = Counter(
        {key: coverage.captions.get(key, 0) for key in captions_of(data.candidates)}.values()
    )
    assert counts.keys() == {1, 2}
    assert sum(times * number for times, number in counts.items()) == 70 * hits
    for hit in plan.hits:
        check_hit(hit, LAYOUTS["trecvid"])
        videos = Counter(task.item for task in hit.tasks if shown_of(task).kind == "caption")
        assert max(videos.values()) == 1
        shares = Counter(shown_of(t).system for t in hit.tasks if shown_of(t).kind == "caption")
        assert shares.pop("human") == 10
        assert max(shares.values()) - min(shares.values()) <= 1


@pytest.mark.shared
def test_the_campaign_of_the_paper(shared):
    """94 HITs: 6,580 judgments of systems and 940 of people, as Table 4 of the paper counts."""
    data = load(shared / "trecvid-vtt-ha", "SA-2016")
    plan = build_hits(data.candidates, data.annotators["HUMAN-A"], hits=94, seed=1)
    systems = plan.coverage().systems
    assert systems.pop("human") == 940
    assert sum(systems.values()) == 6580
    assert plan.kinds() == {"caption": 7520, "repeat": 940, "degraded": 940}


def captions_of(candidates):
    return [(system, item) for system, texts in candidates.items() for item in texts]


# Pilots


@pytest.mark.parametrize("items", [4, 5, 6, 9, 12])
@pytest.mark.parametrize("systems", [1, 2, 3])
def test_a_pilot_fits_itself_to_small_sets(items, systems):
    captions = {
        f"s{n}": {f"v{k}": f"system {n} sees thing {k} over there" for k in range(items)}
        for n in range(systems)
    }
    people = {f"v{k}": f"people see how thing {k} goes over there" for k in range(items)}
    plan = build_hits(captions, people, layout="pilot", seed=3)
    for hit in plan.hits:
        kinds = Counter(task.shown[0].kind for task in hit.tasks)
        assert kinds["degraded"] == min(10, items)
        assert kinds["repeat"] >= 3
    shown = plan.coverage().captions
    assert all(shown[name, item] for name in captions for item in captions[name])
    note = f"A HIT has {items} pairs of a caption and its degraded caption, too few"
    assert (note in str(plan)) == (items < 10)


def test_a_pilot_of_three_items_is_refused():
    captions = {f"v{k}": f"one thing {k}" for k in range(3)}
    with pytest.raises(DataError, match="for 4 items; there are 3 of systems and 3 of people"):
        build_hits(
            {"s": captions}, {k: f"{v}!" for k, v in captions.items()}, layout="pilot", seed=1
        )


def test_a_pilot_leaves_out_what_is_said_twice():
    """Two systems that say the same of a clip, and one that says what people say."""
    people = {f"v{k}": f"people see thing {k} over there" for k in range(8)}
    one = {item: text.replace("people", "we") for item, text in people.items()}
    other = {**one, **{f"v{k}": f"something else {k}" for k in range(5)}, "v0": people["v0"]}
    plan = build_hits({"one": one, "other": other}, people, layout="pilot", seed=1)
    for hit in plan.hits:
        texts = [(t.item, t.shown[0].text) for t in hit.tasks if t.shown[0].kind == "caption"]
        assert len(set(texts)) == len(texts)
