"""The calls of older tools on top of reelscore: existing code switches by changing an import."""
