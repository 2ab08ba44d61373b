"""Captions damaged by rule: what each rule writes, and where it does not apply."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.errors import UnknownNameError
from reelscore.examples import clips
from reelscore.text import damage, damage_forms, damage_kinds, exploit, exploit_kinds
from reelscore.text.damages.rules import HELD_OUT_NEGATIONS, KINDS
from reelscore.text.damages.sentence import WordRow

REFERENCES = [text for texts in clips()[1].values() for text in texts]


def damaged(kind, form, caption, seed=0, references=()):
    return damage(kind, caption, random.Random(seed), forms=[form], references=references)


NEGATIONS = [
    ("is not", "A man is riding a horse.", "A man is not riding a horse."),
    ("is not", "two men riding horses", "two men who are not riding horses"),
    ("is not", "A man rides a horse.", None),
    ("does not", "A man rides a horse.", "A man does not ride a horse."),
    ("does not", "Two men ride horses.", "Two men do not ride horses."),
    ("does not", "a man hits and kicks a bag", "a man does not hit and kick a bag"),
    ("does not", "A soccer game at night.", None),
    ("not doing", "man riding a horse", "man not riding a horse"),
    ("not doing", "A man is riding a horse.", None),
    ("cannot", "The dogs are running.", "The dogs cannot run."),
    ("no longer", "a man rides a horse", "a man no longer rides a horse"),
    ("no longer", "a man is riding a horse", "a man is no longer riding a horse"),
    ("stops", "a man is riding a horse", "a man stops riding a horse"),
    ("stops", "two men ride a horse", "two men stop riding a horse"),
    ("refuses to", "man riding a horse", "man refusing to ride a horse"),
    ("refuses to", "A car drives off.", None),
    ("avoids", "a girl kicks a ball", "a girl avoids kicking a ball"),
    ("untrue", "A girl kicks a ball.", "It is not true that a girl kicks a ball."),
    ("no", "A soccer game at night.", "No soccer game at night."),
    ("no", "In a park, two men sing.", "In a park, no men sing."),
    ("no", "There is a man on a horse.", "There is no man on a horse."),
    ("nobody", "In a park, two young men are singing.", "In a park, nobody is singing."),
    ("nobody", "A dog is barking.", None),
    ("none of", "Young men sing.", "None of the young men sing."),
    ("none of", "A young man sings.", None),
    ("with no", "a man wearing a hat sings", "a man wearing no hat sings"),
    ("with no", "A man sits and eats.", "A man sits but not eating."),
    ("instead of", "a man with a hat sings", "a man lacking a hat sings"),
    ("instead of", "A man sits and eats.", "A man sits instead of eating."),
    ("having no", "a man with a hat sings", "a man having no hat sings"),
    ("having no", "A man sits and eats.", "A man sits rather than eating."),
    ("having no", "two men with one singing", None),
    ("missing", "a man wearing a hat sings", "a man missing a hat sings"),
    ("missing", "A man sits and eats.", "A man sits while not eating."),
    ("minus", "a man with a hat sings", "a man minus a hat sings"),
    ("minus", "A man sits while eating.", "A man sits minus eating."),
    ("never", "a man rides a horse", "a man never rides a horse"),
    ("never", "a man is riding a horse", "a man is never riding a horse"),
    ("no one", "A man and a woman dance.", "No one dances."),
    ("no one", "Two men sit and talk.", "No one sits and talks."),
    ("no one", "A group of men in suits are singing.", "No one in suits is singing."),
    ("without", "a man with a hat sings", "a man without a hat sings"),
    ("without", "a man wearing a hat sings", "a man without a hat sings"),
    ("without", "A man sits and eats.", "A man sits without eating."),
    ("without", "a field covered with snow", None),
    ("fails to", "A man rides a horse.", "A man fails to ride a horse."),
    ("fails to", "a girl catching a ball", "a girl failing to catch a ball"),
    ("isn't", "A man is riding a horse.", "A man isn't riding a horse."),
    ("isn't", "Two dogs run.", "Two dogs don't run."),
    ("isn't", "man riding a horse", "man who isn't riding a horse"),
]


@pytest.mark.parametrize(("form", "caption", "expected"), NEGATIONS)
def test_negation(form, caption, expected):
    assert damaged("negation", form, caption) == expected


def test_each_form_of_negation_has_a_case():
    assert {form for form, _, expected in NEGATIONS if expected} == set(damage_forms("negation"))
    assert set(HELD_OUT_NEGATIONS) < set(damage_forms("negation"))


@pytest.mark.parametrize("form", damage_forms("negation"))
@pytest.mark.parametrize("caption", ["a man isn't moving", "No man is riding a horse."])
def test_negations_are_not_negated(form, caption):
    assert damaged("negation", form, caption) is None


@pytest.mark.parametrize(
    ("kind", "form", "caption", "expected"),
    [
        ("shuffle", "reversed", "A man rides a horse.", "Horse a rides man a"),
        ("shuffle", "all", "a man rides", None),
        ("stutter", "last word", "A man rides a horse.", "A man rides a horse horse horse horse."),
        ("stutter", "each word", "a man rides", "a a man man rides rides"),
        ("stutter", "last phrase", "dogs bark loudly", None),
        ("stutter", "last word", "dogs", None),
        ("truncation", "first half", "A man rides a brown horse.", "A man rides."),
        ("truncation", "first half", "I see a man and a dog.", "I see a"),
        ("truncation", "last half", "A man rides a brown horse.", "A brown horse."),
        ("truncation", "first half", "dogs bark loudly", None),
        ("roles", "beings", "A man bites a dog.", "A dog bites a man."),
        ("roles", "beings", "A dog is chasing two cats.", "Two cats are chasing a dog."),
        ("roles", "beings", "A boy is bitten by a dog.", "A dog is bitten by a boy."),
        ("roles", "beings", "a man smiles at a baby", "a baby smiles at a man"),
        (
            "roles",
            "beings",
            "A girl throws a ball to two dogs.",
            "Two dogs throw a ball to a girl.",
        ),
        ("roles", "beings", "A girl with a dog sings.", None),
        ("roles", "beings", "A man and a woman dance.", None),
        ("roles", "beings", "A man hugs a woman.", None),
        ("roles", "beings", "A man is hugged by a woman.", None),
        ("roles", "object", "A man bends a lamp indoors.", "A lamp bends a man indoors."),
        ("roles", "object", "A man wears a hat, scarf and coat.", None),
        ("roles", "object", "A man shoos a cat, grabs a guitar and sits.", None),
        ("roles", "beings", "A man sits with a dog.", None),
        ("roles", "beings", "A man sees another man.", None),
        ("roles", "beings", "A man wears an animal costume.", None),
        ("roles", "beings", "A man cheers at a horse race.", None),
        ("roles", "beings", "A talk show host holds a boy.", None),
        ("roles", "object", "A man hits a ball.", "A ball hits a man."),
        ("roles", "object", "Two men push a car in the rain.", "A car pushes two men in the rain."),
        ("roles", "object", "A man eats a hot dog.", None),
        ("roles", "beings", "Two men eat hot dogs.", None),
        ("roles", "object", "President Obama is giving a speech.", None),
        ("roles", "object", "A man opens a bottle of milk.", None),
        ("number", "many for one", "The man swims.", None),
        ("number", "many for one", "Two men swim.", None),
        ("number", "other number", "one man of two", None),
        ("number", "other number", "A man sings.", None),
        ("colour", "other colour", "A black man sings.", None),
        ("colour", "other colour", "A black and white video.", None),
        ("colour", "other colour", "A man sings.", None),
        ("noun", "thing", "A man sings.", None),
        ("noun", "thing", "in a living room", None),
        ("noun", "thing", "A boy holds a tennis.", None),
        ("noun", "thing", "An orange toy in the dark.", None),
        ("noun", "thing", "Two men box.", None),
        ("being", "other being", "A car is parked.", None),
        ("being", "other being", "A rubber duck.", None),
        ("verb", "opposite", "A man opens a door.", "A man closes a door."),
        ("verb", "opposite", "Two girls are laughing.", "Two girls are crying."),
        ("verb", "opposite", "An open door.", None),
        ("verb", "opposite", "A man appears to sing.", None),
        ("verb", "opposite", "A man starts to sing.", None),
        ("verb", "other way", "A man walks into a house.", "A man walks out of a house."),
        ("verb", "other way", "A man climbs up a hill.", "A man climbs down a hill."),
        ("verb", "other way", "A man walks down the street.", None),
        ("verb", "other way", "A boy falls down.", None),
        ("verb", "other action", "A man speaks to a woman.", None),
    ],
)
def test_rule(kind, form, caption, expected):
    assert damaged(kind, form, caption) == expected


@pytest.mark.parametrize(
    ("kind", "form", "caption", "choice"),
    [
        ("noun", "thing", "A man eats an apple.", "banana egg cake pizza cookie"),
        ("noun", "thing", "Two red cars.", "buses trains boats bicycles tractors"),
        ("number", "other number", "Two men sing.", "three four five six seven eight nine ten"),
        ("number", "other number", "2 men sing.", "3 4 5 6 7 8 9 10"),
        ("colour", "other colour", "A man in a red hat.", "blue green yellow black"),
        ("colour", "other colour", "A man with blond hair.", "black red"),
        ("being", "other being", "A woman sings.", "man boy dog cat"),
        ("verb", "other action", "A man is riding a horse.", "washing painting photographing"),
    ],
)
def test_one_word_is_exchanged(kind, form, caption, choice):
    seen = set()
    for seed in range(60):
        text = damaged(kind, form, caption, seed)
        (new,) = set(WordRow.read(text).lower) - set(WordRow.read(caption).lower) - {"a", "an"}
        seen.add(new)
    assert seen >= set(choice.split())


def test_many_for_one_agrees():
    text = damaged("number", "many for one", "A man is riding his horse.")
    assert text.split()[1:] == ["men", "are", "riding", "his", "horse."]
    text = damaged("number", "many for one", "A child sits and eats as a band plays.")
    assert text.split()[1:] == ["children", "sit", "and", "eat", "as", "a", "band", "plays."]
    text = damaged("number", "many for one", "A child eats his cake.")
    assert text.split()[1:] == ["children", "eat", "their", "cake."]


def test_another_being_takes_its_pronouns():
    texts = {damaged("being", "other being", "A man shaves his beard.", k) for k in range(40)}
    assert texts == {
        "A woman shaves her beard.",
        "A girl shaves her beard.",
        "A dog shaves its beard.",
        "A horse shaves its beard.",
    }


def test_words_of_the_references_do_not_come_in():
    caption = "A man in a red hat."
    avoided = ["blue or green", "yellow shoes"]
    for seed in range(20):
        text = damaged("colour", "other colour", caption, seed, references=avoided)
        assert text == "A man in a black hat."


def test_forms_are_chosen_from_those_named():
    texts = {
        damage("negation", "A man sings.", random.Random(k), forms=["never", "isn't"])
        for k in range(20)
    }
    assert texts == {"A man never sings.", "A man doesn't sing."}


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="Did you mean 'negation'"):
        damage("negations", "a man", random.Random(0))
    with pytest.raises(UnknownNameError, match="Did you mean 'never'"):
        damage("negation", "a man", random.Random(0), forms=["nevr"])
    with pytest.raises(UnknownNameError, match="exploit 'generics'"):
        exploit("generics", "a man", random.Random(0), references=["a"], others=[])


WORDS = (
    *("a", "man", "woman", "dog", "dogs", "two", "is", "are", "riding", "rides", "red", "hat"),
    *("in", "the", "with", ",", ".", "and", "on", "horse"),
)


@pytest.mark.parametrize("kind", damage_kinds())
@given(words=st.lists(st.sampled_from(WORDS), max_size=12), seed=st.integers(0, 9))
def test_damaged_captions_differ(kind, words, seed):
    caption = " ".join(words)
    text = damage(kind, caption, random.Random(seed))
    assert text == damage(kind, caption, random.Random(seed))
    assert text is None or (text.strip() == text != "" and text.lower() != caption.lower())


@pytest.mark.parametrize("kind", damage_kinds())
@given(caption=st.text(max_size=40))
def test_any_text_is_taken(kind, caption):
    text = damage(kind, caption, random.Random(0))
    assert text is None or text != caption


def test_neighbours_are_exchanged():
    texts = {damaged("shuffle", "neighbours", "A man rides a horse.", seed) for seed in range(9)}
    assert texts == {"Man a a rides horse.", "A rides man horse a"}


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (kind, form)
        for kind, (_, forms) in KINDS.items()
        for form in forms
        if (kind, form) != ("roles", "beings")  # in no example somebody does something to another
    ],
)
def test_each_form_applies_to_the_example_captions(kind, form):
    texts = {caption: damaged(kind, form, caption) for caption in REFERENCES}
    made = {caption: text for caption, text in texts.items() if text is not None}
    assert made
    for caption, text in made.items():
        assert text != caption
        assert "  " not in text
        assert text[:1].isupper() or not caption[:1].isupper() or not text[:1].isalpha()


SCENE = {
    "references": ["A man rides a brown horse.", "a rider on the beach"],
    "others": ["a dog eats", "two women in a kitchen", "a dog in a kitchen"],
}


def exploited(kind, seed=0, **scene):
    return exploit(kind, "someone on horseback", random.Random(seed), **{**SCENE, **scene})


def test_exploits():
    copies = [exploited("spoilt copy", seed).split() for seed in range(20)]
    for copy in copies:
        (original,) = [
            text.split() for text in SCENE["references"] if len(text.split()) == len(copy)
        ]
        assert sum(one != two for one, two in zip(copy, original, strict=True)) in {1, 2}
    assert exploited("all references") == "A man rides a brown horse. a rider on the beach"
    assert exploited("all references", references=["one"]) is None
    assert exploited("frequent") == "a dog in a kitchen"
    assert len(exploited("500 words").split()) == 500
    assert exploited("500 words").startswith(tuple(SCENE["references"]))
    assert exploited("500 words", others=[]) is None
    assert exploited("other video") in SCENE["others"]
    marks = exploited("punctuation").split()
    assert [word.strip(".!?;:") for word in marks] == ["someone", "on", "horseback"]
    assert all(word[-1] in ".!?;:" for word in marks)


@pytest.mark.parametrize("kind", exploit_kinds())
def test_exploits_follow_from_the_seed(kind):
    assert exploited(kind, 3) == exploited(kind, 3) is not None


def test_a_caption_is_no_exploit_of_itself():
    scene = {"references": ["a man"], "others": ["a dog"]}
    assert exploit("other video", "a dog", random.Random(0), **scene) is None
