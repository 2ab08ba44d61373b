"""Roles of clauses, on trees written by hand: no model takes part."""

from __future__ import annotations

import pytest

pytest.importorskip("reelscore_parser")

from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import Clause, clauses
from reelscore.text.parser.trees import Token, Tree


def tree(text: str) -> Tree:
    """A tree from words written as `form/TAG/head/relation`, heads counted from 1."""
    tokens = []
    for word in text.split():
        form, tag, head, relation = word.rsplit("/", 3)
        lemma = Lexicon.load().lemma(form, tag).text
        tokens.append(Token(form, tag, lemma, int(head) - 1, relation))
    return Tree(tuple(tokens))


def read(text: str, **options: str) -> list[Clause]:
    return clauses(tree(text), Lexicon.load(), **options)


def lemmas(text: str) -> list[str]:
    """Subject, verb, object and location of each clause, `-` for none."""
    return [" ".join(lemma or "-" for lemma in clause.lemmas) for clause in read(text)]


EXAMPLES = {
    "A/DT/4/det bearded/JJ/4/amod young/JJ/4/amod man/NN/6/nsubj is/VBZ/6/aux playing/VBG/0/root "
    "the/DT/8/det guitar/NN/6/obj on/IN/10/case stage/NN/6/obl ././6/punct": [
        "man play guitar stage"
    ],
    "Train/NN/0/root coming/VBG/1/acl into/IN/5/case subway/NN/5/compound station/NN/2/obl": [
        "train come - station"
    ],
    "Toy/NN/3/compound cow/NN/3/compound head/NN/5/nsubj:pass is/VBZ/5/aux:pass "
    "attached/VBN/0/root to/IN/8/case white/JJ/8/amod bucket/NN/5/obl on/IN/10/case "
    "counter/NN/8/nmod and/CC/12/cc moves/VBZ/5/conj up/RB/12/advmod and/CC/15/cc "
    "down/RB/13/conj ././5/punct": ["- attach head counter", "head move - -"],
    "a/DT/2/det man/NN/6/nsubj in/IN/5/case a/DT/5/det park/NN/2/nmod lights/VBZ/0/root "
    "a/DT/8/det bunch/NN/6/obj of/IN/10/case leaves/NNS/8/nmod": ["man light bunch park"],
    "Young/JJ/3/amod white/JJ/3/amod woman/NN/6/nsubj with/IN/5/case glasses/NNS/3/nmod "
    "skis/VBZ/0/root down/IN/11/case a/DT/11/det snow/NN/10/compound covered/VBN/11/amod "
    "mountain/NN/6/obl and/CC/13/cc shakes/VBZ/6/conj a/DT/15/det hand/NN/13/obj with/IN/18/case "
    "a/DT/18/det man/NN/13/obl": ["woman ski - mountain", "woman shake hand -"],
    "A/DT/2/det man/NN/7/nsubj in/IN/6/case a/DT/6/det suit/NN/6/compound jacket/NN/2/nmod "
    "walks/VBZ/0/root carrying/VBG/7/advcl a/DT/11/det wicker/NN/11/compound basket/NN/8/obj": [
        "man walk - -",
        "man carry basket -",
    ],
    "Three/CD/2/nummod men/NNS/6/nsubj are/VBP/6/cop on/IN/6/case a/DT/6/det stage/NN/0/root "
    "and/CC/8/cc pushing/VBG/6/conj one/CD/8/obj of/IN/11/case them/PRP/9/nmod in/IN/14/case "
    "a/DT/14/det stroller/NN/8/obl": ["man be - stage", "man push one stroller"],
    "2/CD/2/nummod persons/NNS/3/nsubj talks/VBZ/0/root to/IN/5/case each/DT/3/obl "
    "other/JJ/5/fixed outdoors/RB/3/advmod at/IN/9/case daytime/NN/3/obl": [
        "person talk - outdoors"
    ],
    "A/DT/3/det movie/NN/3/compound clip/NN/0/root about/IN/5/case Shrek/NNP/3/nmod ././3/punct": [
        "clip - - -"
    ],
    "he/PRP/2/nsubj shot/VBD/0/root and/CC/4/cc modified/VBD/2/conj the/DT/6/det video/NN/2/obj": [
        "he shoot video -",
        "he modify video -",
    ],
    # the same with the object on the second verb
    "he/PRP/2/nsubj shot/VBD/0/root and/CC/4/cc modified/VBD/2/conj the/DT/6/det video/NN/4/obj": [
        "he shoot video -",
        "he modify video -",
    ],
    # sing can do without an object
    "woman/NN/2/nsubj sings/VBZ/0/root and/CC/4/cc plays/VBZ/2/conj guitar/NN/4/obj": [
        "woman sing - -",
        "woman play guitar -",
    ],
    "she/PRP/2/nsubj begins/VBZ/0/root to/TO/4/mark shoot/VB/2/xcomp a/DT/6/det film/NN/4/obj "
    "in/IN/9/case the/DT/9/det park/NN/2/obl": ["she shoot film park"],
    "There/EX/2/expl is/VBZ/0/root a/DT/4/det man/NN/2/nsubj singing/VBG/4/acl": ["man sing - -"],
    "There/EX/2/expl is/VBZ/0/root a/DT/4/det cat/NN/2/nsubj": ["cat be - -"],
    "A/DT/2/det girl/NN/3/nsubj looks/VBZ/0/root at/IN/6/case the/DT/6/det camera/NN/3/obl": [
        "girl look_at camera -"
    ],
    "The/DT/2/det ball/NN/4/nsubj:pass is/VBZ/4/aux:pass kicked/VBN/0/root by/IN/7/case "
    "a/DT/7/det boy/NN/4/obl:agent": ["boy kick ball -"],
    "Man/NN/0/root wearing/VBG/1/acl a/DT/4/det hat/NN/2/obj riding/VBG/1/acl a/DT/7/det "
    "horse/NN/5/obj": ["man ride horse -", "man wear hat -"],
    "A/DT/2/det boy/NN/3/nsubj stands/VBZ/0/root in/IN/5/case front/NN/3/obl of/IN/8/case "
    "a/DT/8/det wall/NN/5/nmod": ["boy stand - wall"],
    "Kittens/NNS/2/nsubj lick/VBP/0/root each/DT/2/obj other/JJ/3/fixed": ["kitten lick other -"],
    "outdoors/RB/0/root ././1/punct": ["- - - outdoors"],
    "Seven/CD/2/nummod youths/NNS/3/nsubj stand/VBP/0/root and/CC/5/cc sit/VBP/3/conj "
    "near/IN/8/case a/DT/8/det wall/NN/5/obl": ["youth stand - wall", "youth sit - wall"],
    "Man/NN/0/root and/CC/3/cc woman/NN/1/conj kissing/NN/1/acl": ["man kiss - -"],
    # captions have no commands
    "Train/VB/0/root coming/VBG/1/xcomp into/IN/4/case town/NN/2/obl": ["train come - town"],
    "men/NNS/0/root at/IN/4/case an/DT/4/det event/NN/1/nmod clapping/VBG/1/acl": [
        "man clap - event"
    ],
    # a suit is a lawsuit first, and clothing still; what is white is no place
    "man/NN/5/nsubj in/IN/4/case a/DT/4/det suit/NN/1/nmod dances/VBZ/0/root in/IN/7/case "
    "white/JJ/5/obl": ["man dance - -"],
    "A/DT/2/det video/NN/0/root of/IN/4/case someone/NN/2/nmod singing/VBG/4/acl": [
        "someone sing - -"
    ],
    # the street before what the dog is on
    "Person/NN/2/nsubj jogs/VBZ/0/root down/IN/4/case street/NN/2/obl with/IN/6/case dog/NN/2/obl "
    "on/IN/8/case leash/NN/6/nmod": ["person jog - street"],
    "girl/NN/4/nsubj in/IN/3/case shorts/NNS/1/nmod runs/VBZ/0/root": ["girl run - -"],
    "Closeup/NN/0/root of/IN/3/case person/NN/1/nmod crying/VBG/1/acl": ["person cry - -"],
    "!/./0/root": [],
}


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.split("/")[0] + str(len(text)))
def test_worked_examples(text: str) -> None:
    assert lemmas(text) == EXAMPLES[text]


def test_a_tag_that_the_tree_contradicts_is_repaired() -> None:
    text = "dog/NN/2/nsubj waters/NNS/0/root plants/NNS/2/obj"
    (clause,) = read(text)
    assert clause.lemmas == ("dog", "water", "plant", None)
    assert clause.repaired
    (other,) = read(text.replace("waters/NNS", "waters/VBZ"))
    assert not other.repaired


def test_a_participle_that_is_tagged_as_an_adjective_is_repaired() -> None:
    (clause,) = read("man/NN/3/nsubj is/VBZ/3/cop dribbling/JJ/0/root balls/NNS/3/obj")
    assert clause.lemmas == ("man", "dribble", "ball", None)
    assert clause.repaired
    (other,) = read("book/NN/3/nsubj is/VBZ/3/cop interesting/JJ/0/root")
    assert other.lemmas == ("book", "be", None, None)


def test_pronouns_get_their_antecedent() -> None:
    text = (
        "A/DT/2/det man/NN/3/nsubj sits/VBZ/0/root and/CC/6/cc he/PRP/6/nsubj smiles/VBZ/3/conj "
        "at/IN/8/case women/NNS/6/obl who/WP/10/nsubj dance/VBP/8/acl:relcl"
    )
    first, second, third = read(text)
    assert (second.subject.lemma, second.subject.antecedent) == ("he", "man")
    assert (third.subject.lemma, third.subject.antecedent) == ("woman", None)
    assert first.subject.antecedent is None


def test_pronouns_without_antecedent_become_persons_on_demand() -> None:
    text = "She/PRP/2/nsubj smiles/VBZ/0/root"
    assert read(text)[0].subject.lemma == "she"
    assert read(text, pronouns="person")[0].subject.lemma == "woman"


def test_negation_passive_and_conjuncts() -> None:
    text = (
        "Dog/NN/6/nsubj and/CC/3/cc cat/NN/1/conj ca/MD/6/aux n't/RB/6/advmod reach/VB/0/root "
        "treats/NNS/6/obj"
    )
    (clause,) = read(text)
    assert clause.negated
    assert not clause.passive
    assert clause.subject.conjuncts == ("dog", "cat")


def test_phrases_leave_out_clauses_and_prepositions() -> None:
    text = (
        "a/DT/3/det small/JJ/3/amod group/NN/9/nsubj of/IN/5/case men/NNS/3/nmod wearing/VBG/5/acl "
        "hats/NNS/6/obj are/VBP/9/aux dancing/VBG/0/root in/IN/12/case the/DT/12/det "
        "room/NN/9/obl"
    )
    first, second = read(text)
    assert first.subject.phrase == "a small group of men"
    assert first.location.phrase == "the room"
    assert second.lemmas == ("man", "wear", "hat", None)
    words = " ".join(tree(text).tokens[index].text for index in first.tokens)
    assert words == "a small group of men are dancing in the room"
