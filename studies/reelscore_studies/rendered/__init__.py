"""Rendered clips: a synthetic data set whose truth is known, to test captioners on.

They are drawn by a program and are no films: tables made on them say "rendered clips (synthetic)".
"""
