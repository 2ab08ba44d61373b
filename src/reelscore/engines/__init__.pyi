from reelscore.engines.engine import Engine as Engine
from reelscore.engines.engine import Shared as Shared
