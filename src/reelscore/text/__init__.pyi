from reelscore.text.damages.exploits import exploit as exploit
from reelscore.text.damages.exploits import exploit_kinds as exploit_kinds
from reelscore.text.damages.rules import damage as damage
from reelscore.text.damages.rules import damage_forms as damage_forms
from reelscore.text.damages.rules import damage_kinds as damage_kinds
from reelscore.text.parser.scene_graph import scene_graph as scene_graph
from reelscore.text.parser.sentences import parse as parse
from reelscore.text.tokens import tokenize as tokenize
