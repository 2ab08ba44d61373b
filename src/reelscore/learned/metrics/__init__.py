"""Metrics with weights: BERTHA, fusion, similarity, BERTScore, CLIPScore, EMScore."""
