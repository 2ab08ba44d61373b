"""Weights of BERTHA, the learned metric of reelscore: data files beside this one."""

__version__ = "2.1.0"
