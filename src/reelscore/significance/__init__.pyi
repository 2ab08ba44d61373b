from reelscore.significance.comparison import Comparison as Comparison
from reelscore.significance.comparison import Pair as Pair
from reelscore.significance.comparison import strictest as strictest
from reelscore.significance.pair_tests import compare as compare
from reelscore.significance.pair_tests import rank_systems as rank_systems
from reelscore.significance.pair_tests import with_tests as with_tests
