"""Reports: one HTML file for everything that an evaluation found.

>>> import tempfile
>>> from pathlib import Path
>>> from reelscore import examples, score_systems
>>> from reelscore.report.html import report_of, write_report
>>> report = report_of(score_systems(*examples.clips()), title="Four systems")
>>> write_report(Path(tempfile.mkdtemp(), "report.html"), report)
"""

from __future__ import annotations

from reelscore.report.html.building import report_of, with_people
from reelscore.report.html.evidence import comparison_evidence, ranking_evidence, with_evidence
from reelscore.report.html.model import Evidence, Report, Section
from reelscore.report.html.page import report_html, write_report

__all__ = [
    "Evidence",
    "Report",
    "Section",
    "comparison_evidence",
    "ranking_evidence",
    "report_html",
    "report_of",
    "with_evidence",
    "with_people",
    "write_report",
]
