"""From captions and references to score tables."""
