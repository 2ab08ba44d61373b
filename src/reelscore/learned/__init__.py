"""Metrics learned from human judgments: BERTHA, fusion of metrics, sentence similarity."""
