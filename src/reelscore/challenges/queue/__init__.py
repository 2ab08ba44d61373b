"""Scoring in the background: jobs, the processes that do them, their results."""
