"""English words that the rules know: verbs, nouns and what else captions are made of.

The lists were written for reelscore with captions of videos in mind. They are no dictionary: a
word that is missing means that a rule does not apply, never that a caption is changed wrongly.
"""

from __future__ import annotations

from functools import cache


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# Verbs

_VERBS = """
act add adjust announce appear applaud approach argue arrive ask attack attempt avoid balance bark
bathe beat begin bend bite blow board bounce bow box brake break bring brush build bump burn buy
call carry catch celebrate change chant chase chat cheer chew chop clap clean clear climb close
collapse collide come compete converse cook cough cover crash crawl cross crouch cry cuddle cut
dance dangle decorate demonstrate describe dig dip direct dive do drag draw dress dribble drink
drive drop drum dunk eat embrace emerge end enjoy enter examine exercise exit explain explode face
fall feed fight fill film finish fire fix flap flee flip float flow fly fold follow fry gallop
gather gaze gesture get giggle give glide go grab grasp greet grin grow hammer hand hang have hear
help hide hike hit hold hop hug hurry imitate inspect interview iron jog join juggle jump keep kick
kiss knead kneel knock land laugh lay lead lean leap learn leave lecture lick lie lift light listen
load look lose lower make march massage measure meet melt miss mix mop motion move nap narrate nod
observe open operate paddle paint park pass pat pay pedal peel peek perform pet photograph pick
place play point poke pose pounce pound pour practice praise pray prepare present press pretend
prune pull punch push put race rain raise rap reach read receive record reject release remove repair
repeat rest return reveal ride rinse rip rise roar rock roll rotate row rub run rush sail salute
sand say scare score scratch scream scrub see sell sew shake share shave shoot shop shout shove show
shovel sing sip sit skate skateboard ski skip slam slap sleep slice slide slip smash smell smile
smoke snap sneeze sniff snow snowboard speak spill spin spit splash spray spread squat squeeze stack
stand stare start stay steal steer step stick stir stop stretch strike stroke strum stumble surf
sway sweep swim swing take talk tap tape taste teach tear tease tell tend throw tickle tie tip toss
touch train travel trick trim trip try tumble turn twirl twist type unload unwrap use wait wake walk
wander want wash watch water wave wear weave weigh whip whisper whistle win wipe work wrap wrestle
write yawn yell zoom bake grill swallow sink frown scold ignore hate love rescue demolish vanish
disappear mount dismount blend crack drill lounge march hum
"""
_DOUBLED = """
bat beg chat chop clap cut dig dip drag drop drum flap flip get grab grin hit hop hug hum jog knit
nap nod pat pet plan pop put rap rip rub run set shop shut sip sit skip slap slip snap spin spit
squat stir stop strum swim tap tip trim trip trot wrap win zip
"""
_THIRDS = {"have": "has", "do": "does", "go": "goes"}

# Words in -s that are nouns as often as verbs, and the same without -s.
NOUN_LIKE = words(
    """
    acts backs bats boards books bows boxes brushes cooks covers crosses dances drinks drums
    ends faces fans films fires fights hammers hands heads irons jumps lands lights looks
    motions places plants plays points poses presents presses races rides rings rocks rolls
    rows runs sands shops shots shows signs skates skateboards slides smells smiles steps
    sticks strokes talks tapes ties tips trains tricks trips types walks waters waves whips
    works act back bat board book bow box brush cook cover cross dance drink drum end face fan
    film fire fight hammer hand head iron jump land light look motion open place plant play
    point pose present press race ride ring rock roll row run sand shop shot show sign skate
    skateboard slide smell smile step stick stroke talk tape tie tip train trick trip type walk
    water wave whip work rap park parks dress
    """
)

# Verbs that two sides do to each other: who stands first says little. "Say" takes a sentence.
SYMMETRIC = words(
    """
    argue chat collide compete converse cuddle dance embrace fight greet hug kiss meet play
    talk wrestle box join speak face shake practice perform have be sit stand walk run sing
    gather share say
    """
)

# Little words

ARTICLES = frozenset({"a", "an", "the"})
POSSESSIVES = frozenset({"his", "her", "their", "its", "my", "our", "your"})
DETERMINERS = (
    ARTICLES
    | POSSESSIVES
    | words("this that these those some another each every one both many several few")
)
PREPOSITIONS = words(
    """
    in on at with of from by for into onto over under through across along around behind beside
    near above below against among between inside outside toward towards during without to off
    up down upon within past beneath underneath amongst about as like after before next
    """
)
CONJUNCTIONS = frozenset({"and", "or", "but", "then", "while", "as", "when", "because", "until"})
RELATIVES = frozenset({"who", "that", "which", "whom", "whose", "where", "what", "how"})
SUBORDINATES = frozenset({"while", "when", "because", "if", "until", "before", "after", "though"})
# They end a phrase, as prepositions do.
ADVERBS = frozenset({"indoors", "outdoors", "away", "together", "there", "again", "forward"})
BE = {"is": "are", "are": "is", "was": "were", "were": "was"}
NEGATIVE = words(
    """
    not no never nobody none nothing without cannot neither nor hardly fails fail refuses
    refuse unable noone unsuccessfully instead
    """
)

NUMBERS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
ADJECTIVES = words(
    """
    young old older elderly little small big large tall short long white black red blue green
    yellow orange brown pink purple gray grey silver gold golden blond blonde bald bearded
    adult teenage asian african american european japanese chinese indian hispanic caucasian
    arab different other same various colorful colored bright dark wet dry empty full live
    musical electric wooden plastic several many some few two three four five six seven eight
    nine ten male female fat thin happy angry busy crowded heavy loud professional public nice
    beautiful new funny whole
    """
)


def _base_forms() -> list[str]:
    return sorted(set(_VERBS.split()))


def third(base: str) -> str:
    """Return the form of a verb for he, she and it.

    >>> [third(verb) for verb in ("ride", "carry", "play", "catch", "have")]
    ['rides', 'carries', 'plays', 'catches', 'has']
    """
    if base in _THIRDS:
        return _THIRDS[base]
    return plural(base)


def gerund(base: str) -> str:
    """Return the form of a verb in -ing.

    >>> [gerund(verb) for verb in ("ride", "run", "lie", "see", "play")]
    ['riding', 'running', 'lying', 'seeing', 'playing']
    """
    if base in {"lie", "tie", "die"}:
        return f"{base[:-2]}ying"
    if base in _doubled():
        return f"{base}{base[-1]}ing"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return f"{base[:-1]}ing"
    return f"{base}ing"


@cache
def _doubled() -> frozenset[str]:
    return frozenset(_DOUBLED.split())


@cache
def bases() -> frozenset[str]:
    """Return the base forms of all verbs."""
    return frozenset(_base_forms())


@cache
def thirds() -> dict[str, str]:
    """Return the base form of each verb by its form for he, she and it."""
    return {third(base): base for base in _base_forms()}


@cache
def gerunds() -> dict[str, str]:
    """Return the base form of each verb by its form in -ing."""
    return {gerund(base): base for base in _base_forms()}


# Beings

_PLURALS = {
    "man": "men",
    "woman": "women",
    "child": "children",
    "person": "people",
    "policeman": "policemen",
    "fireman": "firemen",
    "sheep": "sheep",
    "fish": "fish",
    "deer": "deer",
    "mouse": "mice",
    "goose": "geese",
    "wolf": "wolves",
    "knife": "knives",
    "shelf": "shelves",
    "foot": "feet",
    "tooth": "teeth",
    "leaf": "leaves",
    "piano": "pianos",
    "photo": "photos",
    "kangaroo": "kangaroos",
}

_PEOPLE = """
man woman boy girl baby toddler infant child kid person guy lady gentleman teenager adult male
female player singer dancer musician drummer guitarist performer actor actress artist athlete
boxer wrestler gymnast skater skateboarder surfer skier swimmer runner cyclist bicyclist biker rider
driver soldier policeman officer fireman firefighter doctor nurse teacher student coach referee chef
cook waiter waitress reporter announcer host model bride groom bridesmaid clown wizard magician
farmer worker mechanic president politician speaker friend couple family mother father brother
sister daughter son grandmother grandfather batter pitcher goalkeeper goalie cheerleader cowboy
pedestrian hiker spectator fan teammate opponent youth rapper comedian conductor pianist violinist
barber hairdresser dentist passenger customer acrobat photographer contestant presenter patient
"""
_ANIMALS = """
dog puppy cat kitten horse pony cow bull calf goat sheep lamb pig rabbit bird duck chicken goose
parrot owl eagle penguin fish shark whale dolphin seal turtle snake lizard frog monkey gorilla ape
bear panda tiger lion elephant giraffe zebra deer fox wolf squirrel mouse rat hamster raccoon
kangaroo camel donkey bee spider butterfly animal otter hedgehog alpaca llama reindeer
"""
CROWDS = words("group crowd pair bunch team line row number couple lot lots")


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> [plural(noun) for noun in ("dog", "woman", "baby", "box", "knife")]
    ['dogs', 'women', 'babies', 'boxes', 'knives']
    """
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith(("s", "sh", "ch", "x", "z")) or (
        noun.endswith("o") and noun[-2] not in "aeiou"
    ):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


@cache
def _singulars() -> dict[str, str]:
    return {more: one for one, more in _PLURALS.items()}


@cache
def dictionary_form(word: str) -> str:
    """Return the base form of a verb, or the singular of a noun, as far as it is known.

    >>> [dictionary_form(word) for word in ("riding", "women", "boxes", "cars", "dress", "red")]
    ['ride', 'woman', 'box', 'car', 'dress', 'red']
    """
    verb = gerunds().get(word) or thirds().get(word)
    if verb:
        return verb
    singular = _singulars().get(word)
    endings = ((word[:-1], 1), (word[:-2], 2), (word[:-3] + "y", 3))
    guesses = [guess for guess, ending in endings if len(word) > ending + 1]
    return singular or next((guess for guess in guesses if plural(guess) == word), word)


@cache
def people() -> dict[str, bool]:
    """Return the words for people, each with whether it is a plural."""
    singular = _PEOPLE.split()
    words = dict.fromkeys(singular, False) | {plural(noun): True for noun in singular}
    return words | {"gentlemen": True, "persons": True, "guys": True, "folks": True}


@cache
def beings() -> dict[str, bool]:
    """Return the words for people and animals, each with whether it is a plural.

    >>> beings()["dogs"], beings()["woman"], "table" in beings()
    (True, False, False)
    """
    singular = _ANIMALS.split()
    return people() | {plural(noun): True for noun in singular} | dict.fromkeys(singular, False)


# Nouns that are verbs too: they are nouns only after a word that belongs to a noun.
NOUNS_OR_VERBS = words(
    """
    train box bat book park drum saw basket hammer brush rope ladder bucket flag mask dress
    suit tie cook water milk rock fence wall mirror paper glass house ball skates light rain
    snow inside outside right fan mike hill dark land home
    """
)
SPORTS = words("basketball baseball soccer football rugby hockey tennis golf volleyball")
# Pairs of words that are one name.
COMPOUNDS = words(
    """
    hot_dog creek_bed river_bed flower_bed ice_cream living_room
    dining_room locker_room green_screen red_carpet white_house
    high_school black_board fire_truck ice_hockey rock_band rock_concert rock_climbing
    cell_phone phone_booth tv_show orange_juice train_station bus_stop bus_station parking_lot
    football_field snow_board fish_tank teddy_bear rocking_chair high_chair swimming_pool
    wine_glass water_bottle bottle_cap cake_walk body_water tree_house rubber_duck guinea_pig
    sea_lion polar_bear sheep_dog mountain_bike street_light street_musician shopping_cart
    stop_sign t_shirt tee_shirt suit_jacket dress_shirt polo_shirt tank_top black_and
    white_trash white_board red_bull orange_tree white_water
    """
)


def compound(one: str, two: str) -> bool:
    """Return whether two words are one name: "hot dog", and "hot dogs".

    >>> compound("hot", "dogs"), compound("big", "dogs")
    (True, False)
    """
    return f"{one}_{two}" in COMPOUNDS or f"{one}_{two.removesuffix('s')}" in COMPOUNDS
