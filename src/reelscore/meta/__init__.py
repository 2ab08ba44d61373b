"""How far to trust a number: metrics against people, and judgments against their captions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.data.table_forms import merge_tables
    from reelscore.meta.alignment import Scan, Verdict, scan_shifts
    from reelscore.meta.audit import Audit, audit_captions, audit_tables, quick_audit
    from reelscore.meta.contrasts import Contrast, between_scores, between_systems
    from reelscore.meta.correlation import Correlation, correlate_metrics, with_intervals
    from reelscore.meta.difficulty import Difficulties, difficulties
    from reelscore.meta.evaluation import MetaEvaluation, evaluate_metrics
    from reelscore.meta.judged import Judged, score_judged
    from reelscore.meta.metric_tests import compare_metrics
    from reelscore.meta.paired_scores import Cells, bring_together
    from reelscore.meta.similarity import Similarity, by_annotator, compare_writers
    from reelscore.meta.stress.cases import Case, stress_kinds
    from reelscore.meta.stress.trials import Stress, Trial, stress_metrics

__all__ = [
    "Audit",
    "Case",
    "Cells",
    "Contrast",
    "Correlation",
    "Difficulties",
    "Judged",
    "MetaEvaluation",
    "Scan",
    "Similarity",
    "Stress",
    "Trial",
    "Verdict",
    "audit_captions",
    "audit_tables",
    "between_scores",
    "between_systems",
    "bring_together",
    "by_annotator",
    "compare_metrics",
    "compare_writers",
    "correlate_metrics",
    "difficulties",
    "evaluate_metrics",
    "merge_tables",
    "quick_audit",
    "scan_shifts",
    "score_judged",
    "stress_kinds",
    "stress_metrics",
    "with_intervals",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "data.table_forms": "merge_tables",
        "meta.alignment": "Scan Verdict scan_shifts",
        "meta.audit": "Audit audit_captions audit_tables quick_audit",
        "meta.contrasts": "Contrast between_scores between_systems",
        "meta.correlation": "Correlation correlate_metrics with_intervals",
        "meta.difficulty": "Difficulties difficulties",
        "meta.evaluation": "MetaEvaluation evaluate_metrics",
        "meta.judged": "Judged score_judged",
        "meta.paired_scores": "Cells bring_together",
        "meta.metric_tests": "compare_metrics",
        "meta.similarity": "Similarity by_annotator compare_writers",
        "meta.stress.cases": "Case stress_kinds",
        "meta.stress.trials": "Stress Trial stress_metrics",
    },
)
