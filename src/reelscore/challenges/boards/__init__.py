"""Leaderboards: how they are made, the ladder, awards, the explorer."""
