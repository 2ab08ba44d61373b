"""Existing results of campaigns, one file per format: crowd services, MT's tools, plain tables."""
