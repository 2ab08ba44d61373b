"""Weights of BERTHA, the learned metric of reelscore: data files beside this one."""

__version__ = "1.0.0"
