"""Challenges as files: export, import, static archive, verification, remote servers."""
