from reelscore.text.parser.roles import Clause as Clause
from reelscore.text.parser.roles import Sentence as Sentence
