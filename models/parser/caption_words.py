"""The words of the caption grammar: nouns and verbs of WordNet by kind, and short lists of ours."""

from __future__ import annotations

import random
from functools import cache

from lemminflect import getInflection

from reelscore.text.parser.lexicon import Lexicon

USUAL = {
    "person": "man woman boy girl guy lady person child kid baby toddler teenager player singer "
    "dancer athlete soldier officer driver rider skater surfer cyclist reporter speaker teacher "
    "student couple people audience crowd band team performer actor musician drummer guitarist "
    "chef cook worker fan youth adult female male bride groom gymnast wrestler boxer model host "
    "policeman fireman skier swimmer runner goalkeeper cheerleader clown magician".split(),
    "animal": "dog cat puppy kitten horse bird cow monkey elephant lion bear tiger fish duck "
    "turtle rabbit pig goat sheep parrot snake deer squirrel panda dolphin shark".split(),
    "thing": "ball guitar car bike bicycle motorcycle truck bus train boat camera microphone "
    "phone piano keyboard drum bottle cup glass book paper box bag toy balloon rope stick gun "
    "knife flag sign door window instrument skateboard surfboard basketball football computer "
    "laptop tablet video picture umbrella ladder hammer broom cart stroller flower pot plate "
    "bowl candle mirror pillow blanket racket bat puzzle card sword trophy robot".split(),
    "food": "cake pizza sandwich apple banana egg bread meat fruit vegetable soup salad drink "
    "beer wine coffee milk water strawberry cookie candy noodle".split(),
    "body": "hand head face arm leg foot finger hair eye mouth nose ear neck back shoulder "
    "stomach tongue chest knee".split(),
    "clothing": "shirt hat cap jacket coat dress suit tie skirt glove helmet mask uniform costume "
    "shoe boot scarf sweater vest robe gown apron bikini swimsuit hoodie headband wig jersey "
    "glasses sunglasses goggles pants shorts jeans".split(),
    "place": "room street road park beach field stage kitchen gym house building bedroom bathroom "
    "car office store restaurant stadium court track pool river lake ocean sea forest mountain "
    "hill garden yard backyard lawn driveway parking_lot sidewalk bridge station school classroom "
    "church hallway hall garage club bar floor ground table couch sofa bed chair bench counter "
    "desk wall roof fence tree stairs staircase boat bus train truck van ring arena market mall "
    "zoo cage farm barn sand snow grass water city town village studio theater balcony porch "
    "podium ramp slope trail path crowd place area".split(),
    "plant": "tree flower plant grass leaf bush".split(),
    "event": "concert game race party show wedding parade match contest performance festival "
    "interview event ceremony competition conference".split(),
}
ALWAYS_PLURAL = frozenset("people glasses sunglasses goggles pants shorts jeans stairs".split())
TRANSITIVE = (
    "play hold push pull throw catch kick hit ride drive carry lift drop open close eat drink cut "
    "cook wash clean brush feed pet hug kiss chase watch show use make build paint draw write "
    "read film shoot wear put take give pick remove break fix touch rub lick bite scratch shake "
    "spin bounce dribble pass block tackle punch slap tickle dress light blow pour stir fill mix "
    "peel slice water dig climb jump cross enter leave approach follow lead greet interview "
    "perform demonstrate juggle balance swing wave raise lower point flip roll fold tie "
    "perform sing celebrate board load ski fly park race answer sweep examine operate record"
).split()
INTRANSITIVE = (
    "walk run jump dance sing talk speak sit stand lie sleep laugh smile cry play swim dive fall "
    "crawl climb fly drive ride skate ski surf skateboard slide roll spin bounce bow kneel lean "
    "look stare wave clap cheer pose perform fight wrestle box exercise stretch yawn sneeze cough "
    "bark meow scream shout yell eat drink cook work study paint rest wait gather march race "
    "tumble flip swing rock shake nod gesture point kiss hug embrace joke argue interact "
    "celebrate compete practice train rap chant windsurf jog stroll hop skip splash float paddle "
    "row sail hike camp fish shop beg pray preach crash explode burn move turn stop start arrive "
    "leave emerge appear disappear smoke chat converse whistle giggle wrestle"
).split()
WITH_PREPOSITION = {
    "look": "at into for around through out_of",
    "talk": "to with about into",
    "speak": "to into with about at",
    "walk": "down into across along through on past toward towards out_of up in around over with",
    "run": "down into across along through on past toward towards after around up in over",
    "sit": "on in at by behind beside next_to near around with",
    "stand": "on in at by behind beside next_to near in_front_of against with",
    "lie": "on in under beside next_to",
    "jump": "on into over off out_of up onto from around in",
    "play": "with in on for at",
    "dance": "in on with to for around between",
    "sing": "to into in on with for",
    "wave": "at to",
    "smile": "at for",
    "laugh": "at with",
    "point": "at to",
    "stare": "at into out_of",
    "ski": "down on over",
    "slide": "down on into across off",
    "skate": "on in down around",
    "ride": "on in down through along past",
    "drive": "down on along through past into",
    "fall": "off into on down onto over from to",
    "climb": "up on over onto into out_of",
    "crawl": "on under across through into toward",
    "swim": "in through under toward with",
    "fly": "over through in above around",
    "roll": "on down over in",
    "lean": "on against over out_of toward",
    "bump": "into",
    "crash": "into",
    "pose": "for with in",
    "perform": "on for in to at",
    "listen": "to",
    "bark": "at",
    "pull": "on at",
    "push": "against on",
    "rub": "against on",
    "work": "on at in with",
    "fight": "with over in",
    "spin": "around in on",
    "bow": "to",
    "kneel": "on beside in_front_of by",
    "hang": "from on off",
    "march": "down in along",
    "move": "around toward through across to",
    "float": "on in down",
    "shout": "at into",
    "yell": "at to",
    "paw": "at",
    "sniff": "at",
    "wrestle": "with on in",
    "peek": "out_of into through around",
    "come": "into out_of down to up through toward",
    "go": "into down to through around over up on",
    "get": "into out_of on off",
    "step": "on over into off",
    "land": "on in",
    "bounce": "on off around",
    "gather": "around in at on",
    "sleep": "on in under next_to",
}
DITRANSITIVE = "give hand show throw offer pass feed bring toss teach tell".split()
COLOURS = (
    "red blue green black white yellow orange purple pink brown grey gray golden silver blonde "
    "tan beige maroon navy turquoise violet"
).split()
ADJECTIVES = (
    "young old little small big large tall short long fat thin skinny bearded bald beautiful cute "
    "happy angry sad dark bright wooden plastic metal colorful striped empty crowded open wet dry "
    "muddy snowy sunny busy indoor outdoor naked shirtless blind muscular overweight elderly "
    "adult teenage female male military traditional electric acoustic heavy fluffy furry stuffed "
    "giant tiny huge wild different low high narrow wide dirty round square flat"
).split()
ORIGINS = (
    "Asian African American Indian Chinese Japanese Korean Caucasian Hispanic European Arab "
    "Russian Mexican Brazilian German French Thai"
).split()
PARTICIPLES = (
    "smiling running crying laughing dancing barking burning moving parked painted decorated "
    "broken closed covered dressed seated masked tattooed injured frozen lighted folded"
).split()
COMPOUNDS = (
    "basketball football soccer tennis baseball hockey swimming boxing dance music rock hip police "
    "fire race sports living dining hotel hospital city country park school wedding birthday "
    "news cooking parking subway train bus gas ice snow sand water beach baby cowboy straw "
    "leather jean winter business martial kitchen plastic paper toy video movie computer cell "
    "television TV Christmas Halloween football circus street community college army rap"
).split()
NAMES = [
    ["Shrek"],
    ["Obama"],
    ["Batman"],
    ["Santa", "Claus"],
    ["Mickey", "Mouse"],
    ["Donald", "Trump"],
    ["Elvis"],
    ["Superman"],
    ["Lady", "Gaga"],
    ["Homer", "Simpson"],
    ["Anna"],
    ["Peter"],
    ["Spiderman"],
    ["Elsa"],
    ["Messi"],
]
ADVERBS = (
    "slowly quickly happily together around away forward backwards back down up loudly quietly "
    "alone outside inside outdoors indoors there here again fast hard gently wildly suddenly "
    "repeatedly underwater upstairs downstairs slightly playfully energetically carefully "
    "rapidly sideways over off along by synchronously simultaneously excitedly kindly"
).split()
PLACE_ADVERBS = "outside inside outdoors indoors underwater upstairs downstairs backstage".split()
PARTICLES = {"up", "down", "off", "out", "on", "in", "over", "away", "back", "around"}

_NOUN_FILES = {
    "person": "noun.person",
    "animal": "noun.animal",
    "thing": "noun.artifact",
    "food": "noun.food",
    "body": "noun.body",
    "plant": "noun.plant",
    "place": "noun.location",
    "event": "noun.event",
    "clothing": "",
}
_NAMED = "administrative_district city country continent geographical_area".split()
_VERB_TOPICS = frozenset(
    "motion contact perception communication body consumption competition creation social "
    "possession emotion change".split()
)


class Words:
    """Draws words of a kind: half of them usual in captions, half from all of WordNet."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        lexicon = Lexicon.load()
        self._nouns: dict[str, tuple[list[str], list[float]]] = {}
        rare: dict[str, dict[str, float]] = {kind: {} for kind in USUAL}
        kinds = {file: kind for kind, file in _NOUN_FILES.items()}
        for lemma in lexicon.lemmas("n"):
            senses = lexicon.senses(lemma, "n")
            kind = kinds.get(senses[0].file)
            if not kind or not senses[0].count or not lemma.isalpha() or len(lemma) < 2:
                continue
            if not lexicon.is_a(senses[0], *_NAMED):
                rare[kind][lemma] = senses[0].count ** 0.5
        for kind, usual in USUAL.items():
            self._nouns[kind] = self._mixture(usual, rare[kind])

        transitive, intransitive, phrasal = {}, {}, {}
        for lemma in lexicon.lemmas("v"):
            sense = lexicon.senses(lemma, "v")[0]
            if sense.topic not in _VERB_TOPICS or not sense.count:
                continue
            weight = sense.count**0.5 * (2 if lexicon.count(lemma, "n") else 1)
            base, _, particle = lemma.partition("_")
            if particle in PARTICLES and base.isalpha():
                phrasal[lemma] = weight
            elif lemma.isalpha() and len(lemma) > 1:
                if sense.frames & {8, 9}:
                    transitive[lemma] = weight
                if 2 in sense.frames:
                    intransitive[lemma] = weight
        self._verbs = {
            "transitive": self._mixture(TRANSITIVE, transitive),
            "intransitive": self._mixture(INTRANSITIVE, intransitive),
            "phrasal": self._mixture(
                "pick_up put_on take_off stand_up sit_down put_down get_up turn_around blow_out "
                "hold_up set_up throw_away fall_down lie_down look_up get_off take_out".split(),
                phrasal,
            ),
        }
        adjectives = {
            lemma: (lexicon.count(lemma, "a") or 0) ** 0.5
            for lemma in lexicon.lemmas("a")
            if lemma.isalpha() and len(lemma) > 2 and (lexicon.count(lemma, "a") or 0) >= 5
        }
        self._adjectives = self._mixture(ADJECTIVES, adjectives)
        adverbs = {
            lemma: (lexicon.count(lemma, "r") or 0) ** 0.5
            for lemma in lexicon.lemmas("r")
            if lemma.endswith("ly") and lemma.isalpha() and (lexicon.count(lemma, "r") or 0) >= 3
        }
        self._adverbs = self._mixture(ADVERBS, adverbs)

    @staticmethod
    def _mixture(usual: list[str], rare: dict[str, float]) -> tuple[list[str], list[float]]:
        """Both lists with weights: the usual words get half of the probability."""
        total = sum(rare.values()) or 1.0
        weights = {word: 1.0 / len(set(usual)) for word in usual}
        for word, weight in rare.items():
            weights[word] = weights.get(word, 0.0) + weight / total
        return list(weights), list(weights.values())

    def _draw(self, table: tuple[list[str], list[float]]) -> str:
        return self._chance.choices(*table)[0]

    def noun(self, kind: str) -> str:
        """A noun lemma of `kind`, such as `person`."""
        return self._draw(self._nouns[kind])

    def verb(self, kind: str) -> str:
        """A verb lemma: `transitive`, `intransitive` or `phrasal` (with `_`)."""
        return self._draw(self._verbs[kind])

    def adjective(self) -> str:
        """An adjective."""
        return self._draw(self._adjectives)

    def adverb(self) -> str:
        """An adverb."""
        return self._draw(self._adverbs)


@cache
def inflected(lemma: str, tag: str) -> str:
    """The form of `lemma` with the Penn tag `tag`."""
    if lemma == "be":
        return {"VBZ": "is", "VBP": "are", "VBG": "being", "VBN": "been", "VB": "be"}.get(
            tag, "was"
        )
    if lemma in ALWAYS_PLURAL:
        return lemma
    forms = getInflection(lemma, tag)
    return forms[0] if forms else lemma
