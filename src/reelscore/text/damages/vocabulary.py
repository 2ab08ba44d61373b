"""What may stand in place of what: beings, things, colours and verbs, each with wrong ones.

The lists were written for reelscore.
"""

from __future__ import annotations

from functools import cache

from reelscore.text.damages.english import gerund, third

# A being with those that it cannot be mistaken for, as kinds of their own.
BEING_KINDS = {
    "man": "man guy gentleman male",
    "woman": "woman lady female",
    "boy": "boy",
    "girl": "girl",
    "baby": "baby infant toddler",
    "child": "child kid",
    "person": "person",
    "dog": "dog puppy",
    "cat": "cat kitten",
    "horse": "horse pony",
    "cow": "cow bull calf",
    "goat": "goat sheep lamb",
    "pig": "pig",
    "rabbit": "rabbit",
    "bird": "bird parrot owl eagle",
    "duck": "duck goose chicken",
    "monkey": "monkey gorilla ape",
    "bear": "bear panda",
    "tiger": "tiger lion",
    "elephant": "elephant",
    "snake": "snake",
    "mouse": "mouse rat hamster",
}
OTHER_BEINGS = {
    "man": "woman girl dog horse",
    "woman": "man boy dog cat",
    "boy": "woman girl dog cat",
    "girl": "man boy dog cat",
    "baby": "dog cat monkey",
    "child": "dog cat monkey",
    "person": "dog cat bear monkey",
}
ANIMAL_CHOICE = (
    "man",
    "woman",
    "girl",
    "dog",
    "cat",
    "horse",
    "cow",
    "pig",
    "rabbit",
    "monkey",
    "bear",
    "elephant",
)
GENDERS = {
    "he": ("she", "it"),
    "his": ("her", "its"),
    "him": ("her", "it"),
    "himself": ("herself", "itself"),
    "she": ("he", "it"),
    "herself": ("himself", "itself"),
}

# Nouns: groups of things of one sort, with an empty line between; "/" joins names of the same
# thing. Of those only the first comes in; the others are recognised.

THINGS = """
shirt/t-shirt/tee/blouse/teeshirt/sweater/sweatshirt/hoodie jacket/coat/vest/suit/tuxedo dress/gown
skirt
 apron robe swimsuit/bikini

hat/cap helmet crown wig mask scarf necklace tie

car/vehicle/automobile/convertible bus train/subway truck/pickup/van boat/ship/kayak/canoe
plane/airplane/jet helicopter motorcycle/motorbike bicycle/bike skateboard scooter tractor
wheelchair

guitar piano/keyboard violin/cello drum trumpet/horn/saxophone/trombone flute accordion harp

kitchen bedroom bathroom office classroom garage church gym/gymnasium restaurant/cafe
store/shop/mall hospital library museum airport

beach/shore forest/woods park/playground/field/meadow street/road/highway/avenue desert
mountain/hill river/lake/pond/stream garden/yard/backyard/lawn

basketball baseball soccer/football/rugby hockey tennis golf volleyball

ball/football frisbee balloon rope ladder bucket umbrella flag broom sword

knife fork spoon hammer brush saw

bottle cup/glass/mug bowl plate/dish box bag/purse/backpack basket jar

table/desk bed chair/seat/stool couch/sofa bench shelf mirror lamp

door/gate window wall fence roof

book/magazine newspaper letter/card phone/cellphone computer/laptop microphone/mike/mic

apple banana egg cake/cupcake pizza sandwich/burger/hamburger cookie carrot

tree/bush flower rock/stone

foot/leg nose ear knee elbow

house/home/cottage tent tower bridge castle

player/athlete soldier policeman/officer doctor/nurse chef/cook waiter/waitress farmer singer
dancer drummer/guitarist/musician
"""
STUFF = """
snow sand grass mud water

milk beer/wine coffee/tea juice soup

rice bread cheese/butter chocolate meat/steak/chicken salad

daytime/daylight/sunlight nighttime/night

rain/snowfall sunshine

paper wood metal/steel glass leather
"""
PAIRS = """
pants/trousers/jeans shorts pajamas tights/leggings

glasses/sunglasses/goggles gloves/mittens headphones earrings

shoes/sneakers boots sandals/slippers skates skis

indoors outdoors

inside outside
"""

# Colours, each with those that nobody takes for it.
COLOURS = {
    "black": "white yellow red green",
    "white": "black red green blue",
    "red": "blue green yellow black",
    "blue": "red yellow green orange",
    "green": "red blue purple white",
    "yellow": "blue purple black green",
    "orange": "blue green purple black",
    "brown": "blue green white pink",
    "pink": "green black yellow brown",
    "purple": "green yellow orange white",
    "gray": "red yellow green orange",
    "grey": "red yellow green orange",
    "blond": "dark-haired red-haired",
    "blonde": "dark-haired red-haired",
    "dark-haired": "blond red-haired",
    "brunette": "blond",
}

# Verbs and what contradicts them. Both take the same words after them.

# Those in FREE_* stand alone or before a preposition, those in BOUND_* before an object.

FREE_OPPOSITES = """
laugh:cry cry:laugh giggle:cry smile:frown frown:smile sit:stand stand:sit lie:stand kneel:stand
crouch:stand squat:stand win:lose lose:win wake:sleep whisper:shout shout:whisper yell:whisper
scream:whisper rise:fall appear:disappear disappear:appear arrive:leave float:sink sink:float
open:close close:open enter:leave leave:enter exit:enter start:finish begin:finish
"""
BOUND_OPPOSITES = """
open:close close:open enter:leave leave:enter exit:enter push:pull pull:push throw:catch catch:throw
win:lose lose:win buy:sell sell:buy raise:lower lower:raise lift:lower build:demolish
mount:dismount love:hate hate:love load:unload unload:load wrap:unwrap unwrap:wrap give:receive
receive:give praise:scold help:ignore rescue:attack approach:flee follow:lead lead:follow
"""
FREE_ACTIONS = """
walk:crawl,gallop,swim run:crawl,swim,float jog:crawl,swim jump:crawl,sleep hop:crawl,sleep
leap:crawl,sleep dance:sleep,pray,kneel sing:sleep,yawn,sneeze swim:sleep,walk dive:crawl,walk
fly:crawl,swim crawl:dance,fly smoke:sing,pray skate:crawl,swim ski:crawl,swim surf:sleep,crawl
march:crawl,sleep speak:sleep,sneeze talk:sneeze,yawn fight:dance,pray,sleep
wrestle:dance,pray,sleep box:dance,pray perform:sleep,rest gallop:crawl,sleep bark:sleep,yawn
exercise:sleep,eat cheer:cry,sleep yawn:sing,dance sneeze:dance,sing eat:sleep,dance
drink:dance,sing sleep:dance,jump pray:dance,jump clap:yawn,sleep
"""
BOUND_ACTIONS = """
ride:wash,paint,photograph drive:wash,paint,photograph hold:drop,throw,kick carry:drop,throw,kick
eat:throw,paint,wash drink:spill,throw lick:kick,paint kiss:slap,kick,ignore hug:slap,kick,ignore
embrace:slap,kick,ignore cut:paint,wash,count slice:paint,throw chop:paint,throw cook:throw,sell
watch:ignore,attack play:break,wash,sell read:burn,tear,fold write:burn,tear wash:paint,break,sell
clean:break,paint hit:kiss,wash,paint kick:kiss,wash,paint punch:kiss,hug slap:kiss,hug
paint:burn,wash feed:chase,kick,ignore brush:cut,burn wear:wash,sell,burn drag:lift,kick
throw:eat,wash,catch pet:kick,chase bite:kiss,wash greet:ignore,attack pour:drink,freeze
fix:break,steal repair:break,steal climb:paint,photograph smoke:throw,burn chase:wash,feed
"""
PARTICLES = {
    "up": "down",
    "down": "up",
    "into": "out of",
    "onto": "off",
    "over": "under",
    "under": "over",
    "off": "onto",
    "toward": "away from",
    "towards": "away from",
    "forward": "backward",
    "forwards": "backwards",
    "backward": "forward",
    "backwards": "forwards",
}
_MOVERS = """
walk run jog jump hop leap crawl climb march swim go come slide roll drive ride get move step look
dive fly throw fall
"""


@cache
def moves() -> frozenset[str]:
    """Return the forms of the verbs that can go one way or another."""
    return frozenset(form for base in _MOVERS.split() for form in (base, third(base), gerund(base)))
