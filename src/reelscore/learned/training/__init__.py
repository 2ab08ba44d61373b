"""Training of learned metrics: examples, recipes, the loop, checkpoints, models."""
