"""Reports: one HTML file for all results of an evaluation.

>>> import tempfile
>>> from pathlib import Path
>>> from reelscore import examples, score_systems
>>> from reelscore.report.html import report_of, write_report
>>> report = report_of(score_systems(*examples.clips()), title="Four systems")
>>> write_report(Path(tempfile.mkdtemp(), "report.html"), report)
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
