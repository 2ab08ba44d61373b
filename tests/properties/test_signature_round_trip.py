"""A signature rebuilds its metric, whatever the parameters."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore import metric_names, parse_signature, score
from reelscore.learned.judges.critic import Critic
from reelscore.learned.judges.endpoint_metric import Failed
from reelscore.learned.judges.events import Events
from reelscore.learned.judges.judge import Judge
from reelscore.learned.judges.questions import Questions
from reelscore.learned.metrics.bertha import Bertha
from reelscore.learned.metrics.bertscore import BertScore
from reelscore.learned.metrics.fusion import Fusion
from reelscore.learned.metrics.recall_within import RecallWithin
from reelscore.learned.metrics.sts import Sts
from reelscore.metrics.bleu import Bleu
from reelscore.metrics.cider import Cider
from reelscore.metrics.diversity import Diversity
from reelscore.metrics.meteor import Meteor
from reelscore.metrics.meteor_universal import STEMMERS, MeteorUniversal
from reelscore.metrics.registry import resolve
from reelscore.metrics.right_answers import RightAnswers, Task
from reelscore.metrics.rouge_l import RougeL
from reelscore.metrics.self_bleu import SelfBleu
from reelscore.metrics.sent_bleu import SentBleu
from reelscore.metrics.spice import Spice

orders = st.integers(1, 9)
shares = st.floats(0, 1, exclude_min=True, exclude_max=True)
# File names may hold what separates the parts of a signature; a name without a letter is no name.
paths = st.text(st.sampled_from("ab|,:%\n 0AC7=/.é"), min_size=1, max_size=12).map(
    lambda name: f"df{name}.json"
)
positive = st.floats(0.01, 1000)
several = st.sampled_from(["mean", "max", "blend"])

METRICS = {
    "bleu": st.builds(Bleu, n=orders),
    "meteor": st.builds(Meteor, alpha=shares, beta=shares, gamma=shares, delta=shares),
    "meteor_universal": st.builds(MeteorUniversal, language=st.sampled_from(list(STEMMERS))),
    "rouge_l": st.builds(RougeL, beta=positive),
    "cider": st.builds(
        Cider,
        n=orders,
        sigma=positive,
        variant=st.sampled_from(["d", "plain"]),
        frequencies=st.none() | paths,
    ),
    "sent_bleu": st.builds(
        SentBleu,
        n=orders,
        smoothing=st.sampled_from(["exp", "floor", "add-k"]),
        value=st.none() | positive,
    ),
    "spice": st.builds(
        Spice,
        synsets=st.sampled_from(["meteor-1.5", None]),
        text=st.sampled_from(["ptb", "raw"]),
        kinds=st.sampled_from(["all", None]),
        tuples=paths,  # without a file, the parser's name is part of it
    ),
    "self_bleu": st.builds(SelfBleu, n=orders),
    "diversity": st.builds(
        Diversity,
        training=st.none() | paths,
        training_tokenizer=st.sampled_from(["ptb", "ptb-coco", "none"]),
    ),
    "right_answers": st.builds(
        RightAnswers, task=st.sampled_from(get_args(Task)), clips=st.integers(1, 2000)
    ),
    "recall_within": st.builds(
        RecallWithin,
        f=st.sampled_from(["sts", "bleu/n:2", "cider"]),
        n=st.integers(5, 99),
        k=st.sampled_from(["1", "1/5"]),
        films=st.sampled_from(["ids", "one"]),
    ),
    "critic": st.builds(Critic, cast=paths, model=st.just("") | paths),
    "bertha": st.builds(
        Bertha,
        # another model's revision is read from its folder, which must be there
        references=several,
        scale=st.sampled_from(["z", "percent"]),
        dtype=st.sampled_from(["float32", "int8"]),
    ),
    "sts": st.builds(Sts, references=several),
    "fusion": st.builds(Fusion, weights=st.sampled_from(["classical", "learned"]) | paths),
    # the revisions of encoders are read from their folders, which must be there
    "bertscore": st.builds(
        BertScore, layer=st.integers(1, 6), idf=st.booleans(), references=several
    ),
    "judge": st.builds(
        Judge,
        model=paths,
        prompt=st.sampled_from(["adequacy", "factuality", "helpful"]),
        scale=st.sampled_from([5, 100]),
        frames=st.integers(1, 16),
        schema=st.booleans(),
        failed=st.sampled_from(get_args(Failed)),
    ),
    "events": st.one_of(
        st.builds(Events, least=shares),
        st.builds(
            Events, model=paths, by=st.just("endpoint"), preset=st.just("dream-1k"), clips=paths
        ),
    ),
    "questions": st.builds(
        Questions,
        model=paths,
        file=paths,
        preset=st.sampled_from(["vdc", "vdc-published", "capability"]),
    ),
}
ASKED = {"judge", "events", "questions", "critic"}  # what needs an endpoint, or names
NEED_A_FOLDER = {"clipscore", "refclipscore", "emscore"}  # tests/unit/judges has their round trip


def test_every_metric_is_tried():
    assert set(METRICS) | NEED_A_FOLDER == set(metric_names())


@pytest.mark.parametrize("name", METRICS)
@given(data=st.data())
def test_parse_rebuilds(name, data):
    metric = data.draw(METRICS[name])
    assert parse_signature(metric.signature()) == metric
    assert (
        parse_signature(metric.signature(tok="ptb", items=3, refs="1-5", data="00ff", v="0.1.0"))
        == metric
    )
    assert resolve(f"{metric.signature()},{_other(name)}")[0] == metric  # commas are safe


def _other(name):
    return "rouge_l" if name != "rouge_l" else "meteor"


# what must be given, or what a result names in full
GIVEN = {
    "meteor_universal": "|language:sv",
    "bertscore": "|layer:6",
    "recall_within": "|f:meteor|n:2|k:1",
}


@pytest.mark.parametrize("name", sorted(METRICS.keys() - ASKED))
def test_the_signature_of_a_result_rebuilds(name):
    if name == "spice":
        pytest.importorskip("reelscore_parser")
    name += GIVEN.get(name, "")
    scores = score({"v1": "a man", "v2": "a dog"}, {"v1": ["a man"], "v2": ["a dog"]}, name)
    for result in scores.with_intervals(resamples=20).values():
        assert parse_signature(result.signature) == parse_signature(name)


@pytest.mark.parametrize("name", ["none", "df.json "])
def test_odd_file_names(name):
    assert parse_signature(Cider(frequencies=name).signature()) == Cider(frequencies=name)


def test_the_same_parameters_spell_the_same_signature():
    assert RougeL(1).signature() == RougeL(1.0).signature()
    assert parse_signature("bleu") == Bleu() == parse_signature("bleu|n:4")
    assert hash(parse_signature("bleu")) == hash(Bleu())  # a metric is a value: it can be a key
