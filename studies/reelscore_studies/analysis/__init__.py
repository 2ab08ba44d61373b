"""Captions taken apart as the papers do: difficult items, topics of verbs, similar writers."""
