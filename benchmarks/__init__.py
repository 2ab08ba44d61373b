"""Speed and memory, reelscore and the Java tools side by side in one run.

``python -m benchmarks`` (or ``make bench``) runs everything; names select parts. Figures are CPU
seconds of a process and all it starts: on a busy machine wall time says little.
"""
