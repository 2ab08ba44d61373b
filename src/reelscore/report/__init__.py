"""Scores made visible: tables, figures, timelines, and pages to explore."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.report.html.people import campaign_report
    from reelscore.report.plots.people import draw_p_values, draw_quality, draw_scatter, draw_wins
    from reelscore.report.plots.studies import (
        draw_audit,
        draw_counts,
        draw_difficulty,
        draw_shifts,
        draw_similarity,
    )
    from reelscore.report.plots.tables import TablePlots, draw_table
    from reelscore.report.tables.agreement import correlation_grid, significance_grid
    from reelscore.report.tables.campaign import quality_grid, results_grid, wins_grid
    from reelscore.report.tables.grid import Cell, Grid
    from reelscore.report.tables.leaderboard import leaderboard, leaderboard_csv
    from reelscore.report.tables.studies import study_grids
    from reelscore.report.timeline.files import draw_timeline, timeline_text, write_timeline
    from reelscore.report.timeline.page import timeline_html, timeline_svg
    from reelscore.report.training_log import TrainingLog

__all__ = [
    "Cell",
    "Grid",
    "TablePlots",
    "TrainingLog",
    "campaign_report",
    "correlation_grid",
    "draw_audit",
    "draw_counts",
    "draw_difficulty",
    "draw_p_values",
    "draw_quality",
    "draw_scatter",
    "draw_shifts",
    "draw_similarity",
    "draw_table",
    "draw_timeline",
    "draw_wins",
    "leaderboard",
    "leaderboard_csv",
    "quality_grid",
    "results_grid",
    "significance_grid",
    "study_grids",
    "timeline_html",
    "timeline_svg",
    "timeline_text",
    "wins_grid",
    "write_timeline",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "report.html.people": "campaign_report",
        "report.plots.people": "draw_p_values draw_quality draw_scatter draw_wins",
        "report.plots.studies": (
            "draw_audit draw_counts draw_difficulty draw_shifts draw_similarity"
        ),
        "report.plots.tables": "TablePlots draw_table",
        "report.tables.agreement": "correlation_grid significance_grid",
        "report.tables.campaign": "quality_grid results_grid wins_grid",
        "report.tables.grid": "Cell Grid",
        "report.tables.leaderboard": "leaderboard leaderboard_csv",
        "report.tables.studies": "study_grids",
        "report.timeline.files": "draw_timeline timeline_text write_timeline",
        "report.timeline.page": "timeline_html timeline_svg",
        "report.training_log": "TrainingLog",
    },
)
