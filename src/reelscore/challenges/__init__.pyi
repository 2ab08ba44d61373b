from reelscore.challenges.definition.reader import parse_definition as parse_definition
from reelscore.challenges.definition.reader import read_definition as read_definition
from reelscore.challenges.definition.records import Definition as Definition
from reelscore.challenges.store.tables import open_challenges as open_challenges
