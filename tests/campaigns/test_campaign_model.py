"""Any order of claims, answers and absences gives what a simple model of a campaign gives."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from reelscore.campaigns.campaign import Campaign
from reelscore.errors import RefusedError
from support.made_hits import Clock, hit_of

HOLD = 100.0
SLOTS = 2
RATERS = st.sampled_from(["r1", "r2", "r3"])
# h0 and h3 share a system's caption, h1 and h2 the words of two.
HITS = [
    hit_of("h0", ("v0", "mine", "a"), ("v1", "mine", "b")),
    hit_of("h1", ("v2", "mine", "same"), ("v3", "other", "d")),
    hit_of("h2", ("v2", "other", "same"), ("v4", "mine", "e")),
    hit_of("h3", ("v0", "mine", "new"), ("v5", "mine", "f")),
]


@dataclass
class Work:
    """An assignment, as the model sees it."""

    rater: str
    hit: int
    slot: int
    active: float
    state: str = "held"
    answers: dict[str, float] = field(default_factory=dict)


class Model:
    """A campaign in plain Python: what may happen, without a thought for databases."""

    def __init__(self) -> None:
        self.work: list[Work] = []

    def of(self, rater, *states):
        return [each for each in self.work if each.rater == rater and each.state in states]

    def is_free(self, hit, slot):
        live = ("held", "done")
        return not any((w.hit, w.slot) == (hit, slot) and w.state in live for w in self.work)

    def release(self, now):
        for each in self.work:
            if each.state == "held" and each.active < now - HOLD:
                each.state = "abandoned"

    def claim(self, rater, now):
        held = self.of(rater, "held")
        if not held:
            self.release(now)
            left = sorted(self.of(rater, "abandoned"), key=lambda each: -each.active)
            held = [each for each in left if self.is_free(each.hit, each.slot)][:1]
        if not held:
            places = [(slot, hit) for slot in range(SLOTS) for hit in range(len(HITS))]
            for slot, hit in places:
                if self.is_free(hit, slot) and not self.knows(rater, hit):
                    held = [Work(rater, hit, slot, now)]
                    self.work += held
                    break
        for each in held:
            each.state, each.active = "held", now
        return held[0] if held else None

    def knows(self, rater, hit):
        had = {each.hit for each in self.work if each.rater == rater}
        return hit in had or any({hit, other} in ({0, 3}, {1, 2}) for other in had)

    def submit(self, work, task, score, now):
        """Give whether it is new, or the reason of a refusal."""
        if task in work.answers:
            return False if work.answers[task] == score else "answered"
        may_return = not self.of(work.rater, "held") and self.is_free(work.hit, work.slot)
        if work.state == "abandoned" and not may_return:
            return "taken"
        work.answers[task] = score
        work.active = now
        work.state = "done" if len(work.answers) == len(HITS[work.hit].tasks) else "held"
        return True


class Machine(RuleBasedStateMachine):
    """Does the same to the campaign and to the model."""

    def __init__(self, where: str, name: str) -> None:
        super().__init__()
        self.clock = Clock()
        self.campaign = Campaign.create(
            where,
            name,
            systems=["mine", "other"],
            raters_per_hit=SLOTS,
            hold=HOLD,
            clock=self.clock,
        )
        self.campaign.add_hits(HITS)
        self.campaign.set_state("open", actor="me")
        self.model = Model()
        self.ids: dict[int, int] = {}  # of assignments, by their place in the model

    @rule(rater=RATERS)
    def claim(self, rater):
        self.clock.pass_(1)
        wanted = self.model.claim(rater, self.clock.now)
        given = self.campaign.claim(rater)
        assert (given is None) == (wanted is None)
        if wanted is None:
            return
        assert (given.hit, given.rater, given.state) == (f"h{wanted.hit}", rater, "held")
        assert given.answered == set(wanted.answers)
        place = self.model.work.index(wanted)
        assert self.ids.setdefault(place, given.id) == given.id

    @rule(which=st.integers(0, 20), task=st.integers(0, 1), score=st.sampled_from([1.0, 2.0]))
    def submit(self, which, task, score):
        if not self.model.work:
            return
        self.clock.pass_(1)
        place = which % len(self.model.work)
        work = self.model.work[place]
        id = HITS[work.hit].tasks[task].id
        wanted = self.model.submit(work, id, score, self.clock.now)
        answer = {"adequacy": [score]}
        if isinstance(wanted, str):
            with pytest.raises(RefusedError) as refused:
                self.campaign.submit(self.ids[place], work.rater, id, answer)
            assert refused.value.reason == wanted
            return
        receipt = self.campaign.submit(self.ids[place], work.rater, id, answer)
        assert receipt.new == wanted
        assert receipt.remaining == 2 - len(work.answers)

    @rule(seconds=st.sampled_from([10.0, HOLD + 1]))
    def go_away(self, seconds):
        self.clock.pass_(seconds)

    @rule()
    def release(self):
        before = len([each for each in self.model.work if each.state == "held"])
        self.model.release(self.clock.now)
        after = len([each for each in self.model.work if each.state == "held"])
        assert self.campaign.release_abandoned() == before - after

    @invariant()
    def all_is_as_in_the_model(self):
        work = self.model.work
        status = self.campaign.status()
        for state in ("held", "done", "abandoned"):
            assert getattr(status, state) == sum(each.state == state for each in work)
        free = [(h, s) for h in range(len(HITS)) for s in range(SLOTS) if self.model.is_free(h, s)]
        assert status.open == len(free)
        assert status.judgments == sum(len(each.answers) for each in work)

    def teardown(self):
        rows = {(row.rater, row.task): row.score for row in self.campaign.rows()}
        wanted = {
            (each.rater, task): score
            for each in self.model.work
            for task, score in each.answers.items()
        }
        assert rows == wanted
        self.campaign.disconnect()


def test_a_campaign_behaves_as_its_model(where, full):
    made = iter(range(10**6))
    count = 300 if full else 4 if "://" in where else 10
    run_state_machine_as_test(
        lambda: Machine(where, f"c{next(made)}"),
        # a failure is told as it was found: to shrink it would take many minutes
        settings=settings(max_examples=count, stateful_step_count=40, phases=[Phase.generate]),
    )
