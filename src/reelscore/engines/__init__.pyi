from reelscore.engines.engine import Engine as Engine
