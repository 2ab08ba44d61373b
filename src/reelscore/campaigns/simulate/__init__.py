"""Simulated crowds: campaigns whose truth is known, and how many HITs a campaign needs."""
