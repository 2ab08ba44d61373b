"""Stress test: how often a metric prefers a damaged caption, or is fooled by one that cheats.

A true caption of each item, the *original*, is changed by the rules of `reelscore.text.damages`,
and both are scored against the same references. A damaged caption should score below the original.
An exploit should too: the metric is *fooled* where it scores at or above the original.
"""
