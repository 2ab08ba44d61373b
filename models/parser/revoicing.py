"""Re-voiced sentences: web text in the third person of the present, as captions are."""

from __future__ import annotations

import random
from dataclasses import replace

from caption_words import inflected

from reelscore.text.parser.trees import ROOT, Token, Tree

PLURAL_SUBJECTS = frozenset("they we these those both many few several some all people".split())
STRANGERS = frozenset("i you we".split())
PERSONS = ("he", "she", "someone")
ARTICLES = frozenset("a an the".split())


def revoiced(tree: Tree, chance: random.Random) -> Tree | None:
    """The `tree` in the third person of the present, worn as captions are; None if left out."""
    if not 4 <= len(tree.tokens) <= 40:
        return None
    tokens = list(tree.tokens)
    changed = _change_verbs(tree, tokens, chance)
    if not changed:
        if chance.random() >= 0.25:
            return None
        return worn(Tree(tuple(tokens)), chance, 0.5, 0.5, 0.5)
    return worn(Tree(tuple(tokens)), chance, 0.35, 0.4, 0.4)


def _change_verbs(tree: Tree, tokens: list[Token], chance: random.Random) -> bool:
    changed = False
    replaced: set[int] = set()
    for index, token in enumerate(tree.tokens):
        if token.tag not in ("VBD", "VBP", "VBZ"):
            continue
        # an auxiliary or copula agrees with the subject of the word it belongs to
        carrier = token.head if token.relation in ("aux", "aux:pass", "cop") else index
        subject = _subject(tree, carrier)
        if subject is None:
            continue
        word = tree.tokens[subject]
        if word.tag in ("WP", "WDT") and tree.tokens[carrier].relation == "acl:relcl":
            word = tree.tokens[tree.tokens[carrier].head]
        stranger = word.text.lower() in STRANGERS
        if token.tag == "VBZ" or not (token.tag == "VBD" or stranger):
            continue
        changed = True
        if stranger and word is tree.tokens[subject] and subject not in replaced:
            person = chance.choice(PERSONS)
            if (word.text[0].isupper() and word.text != "I") or subject == 0:
                person = person.capitalize()
            tag = "NN" if person.lower() == "someone" else "PRP"
            tokens[subject] = replace(word, text=person, lemma=person.lower(), tag=tag)
            replaced.add(subject)
        plural = not stranger and (
            word.tag in ("NNS", "NNPS")
            or word.text.lower() in PLURAL_SUBJECTS
            or any(tree.tokens[child].relation == "conj" for child in tree.children[subject])
        )
        tag = "VBP" if plural else "VBZ"
        form = inflected(token.lemma, tag)
        if token.text[:1].isupper():
            form = form.capitalize()
        tokens[index] = replace(token, text=form, tag=tag)
    return changed


def _subject(tree: Tree, verb: int) -> int | None:
    """The subject of `verb`, or of the verb it is conjoined with."""
    for _ in range(4):
        subjects = [c for c in tree.children[verb] if tree.tokens[c].relation.startswith("nsubj")]
        if subjects:
            return subjects[0]
        if tree.tokens[verb].relation != "conj":
            return None
        verb = tree.tokens[verb].head
    return None


def worn(tree: Tree, chance: random.Random, articles: float, stop: float, lower: float) -> Tree:
    """Drop articles, the final stop and capitals, each with its own probability."""
    drop: set[int] = set()
    last = len(tree.tokens) - 1
    if chance.random() < articles:
        drop |= {
            index
            for index, token in enumerate(tree.tokens)
            if token.text.lower() in ARTICLES and not tree.children[index] and token.head != ROOT
        }
    if chance.random() < stop and tree.tokens[last].tag == "." and not tree.children[last]:
        drop.add(last)
    kept = [index for index in range(len(tree.tokens)) if index not in drop]
    place = {index: new for new, index in enumerate(kept)} | {ROOT: ROOT}
    tokens = [replace(tree.tokens[i], head=place[tree.tokens[i].head]) for i in kept]
    if chance.random() < lower:
        tokens = [replace(token, text=token.text.lower()) for token in tokens]
    return Tree(tuple(tokens))
