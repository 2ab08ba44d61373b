from reelscore.significance.comparison import Comparison as Comparison
from reelscore.significance.pair_tests import compare as compare
from reelscore.significance.pair_tests import rank_systems as rank_systems
