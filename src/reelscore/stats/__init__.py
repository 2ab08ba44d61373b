"""Statistics of scores: resampling, significance, corrections; they know nothing of captions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.stats.clusters import cluster, rank, rank_range
    from reelscore.stats.corrections import correct
    from reelscore.stats.correlation_bootstrap import bootstrap_correlations
    from reelscore.stats.correlation_tests import (
        Tested,
        fisher_interval,
        meng,
        steiger,
        williams,
        zou_interval,
    )
    from reelscore.stats.correlations import difference_pearson, pearson, spearman
    from reelscore.stats.levels import correlate
    from reelscore.stats.pairs import (
        PairCounts,
        accuracy,
        count_pairs,
        kendall_23,
        kendall_b,
        kendall_c,
        kendall_like,
    )
    from reelscore.stats.permutation import Permutations, permutation_test
    from reelscore.stats.proportions import fleiss_kappa, wilson_interval
    from reelscore.stats.rank_tests import rank_sum, signed_rank
    from reelscore.stats.resampling import (
        approximate_randomization,
        bootstrap_scores,
        paired_bootstrap,
        percentile_interval,
    )
    from reelscore.stats.soft_accuracy import soft_pairwise_accuracy
    from reelscore.stats.ties import TieCalibration, calibrate_ties

__all__ = [
    "PairCounts",
    "Permutations",
    "Tested",
    "TieCalibration",
    "accuracy",
    "approximate_randomization",
    "bootstrap_correlations",
    "bootstrap_scores",
    "calibrate_ties",
    "cluster",
    "correct",
    "correlate",
    "count_pairs",
    "difference_pearson",
    "fisher_interval",
    "fleiss_kappa",
    "kendall_23",
    "kendall_b",
    "kendall_c",
    "kendall_like",
    "meng",
    "paired_bootstrap",
    "pearson",
    "percentile_interval",
    "permutation_test",
    "rank",
    "rank_range",
    "rank_sum",
    "signed_rank",
    "soft_pairwise_accuracy",
    "spearman",
    "steiger",
    "williams",
    "wilson_interval",
    "zou_interval",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "stats.clusters": "cluster rank rank_range",
        "stats.corrections": "correct",
        "stats.correlation_bootstrap": "bootstrap_correlations",
        "stats.correlation_tests": "Tested fisher_interval meng steiger williams zou_interval",
        "stats.correlations": "difference_pearson pearson spearman",
        "stats.levels": "correlate",
        "stats.pairs": (
            "PairCounts accuracy count_pairs kendall_23 kendall_b kendall_c kendall_like"
        ),
        "stats.permutation": "Permutations permutation_test",
        "stats.proportions": "fleiss_kappa wilson_interval",
        "stats.rank_tests": "rank_sum signed_rank",
        "stats.resampling": (
            "approximate_randomization bootstrap_scores paired_bootstrap percentile_interval"
        ),
        "stats.soft_accuracy": "soft_pairwise_accuracy",
        "stats.ties": "TieCalibration calibrate_ties",
    },
)
