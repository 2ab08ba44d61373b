"""Ask people: campaigns of human judgments, from the plan to the significance table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.human.campaign import Campaign
    from reelscore.human.evaluate.agreement import (
        Agreement,
        Icc,
        Replication,
        agreement,
        icc,
        krippendorff_alpha,
        replicate,
    )
    from reelscore.human.evaluate.preferences import (
        MetricAccuracy,
        Preference,
        RaterCheck,
        check_raters,
        metric_accuracy,
        score_preferences,
    )
    from reelscore.human.evaluate.quality import Control, Quality, RaterQuality, check_quality
    from reelscore.human.evaluate.rankings import (
        CriterionRanks,
        Friedman,
        RankingResults,
        friedman,
        score_rankings,
    )
    from reelscore.human.evaluate.results import Results, evaluate_ratings
    from reelscore.human.evaluate.scores import HumanScores, score_judgments, standardize
    from reelscore.human.evaluate.votes import (
        Choice,
        Quorum,
        ReferenceResults,
        Standing,
        Votes,
        count_votes,
        score_against_reference,
        score_choices,
    )
    from reelscore.human.hits.comparisons import build_pair_hits, build_ranking_hits
    from reelscore.human.hits.degraded import Rules, degrade, rule_set
    from reelscore.human.hits.design import Design, make_hits, more_hits
    from reelscore.human.hits.layouts import Layout, layout
    from reelscore.human.hits.plan import Coverage, HitPlan
    from reelscore.human.hits.ratings import build_hits
    from reelscore.human.hits.tasks import Hit, Shown, Task
    from reelscore.human.hits.top_up import TopUp, top_up
    from reelscore.human.imports.files import (
        Imported,
        judgments_csv,
        read_judgments,
        stream_judgments,
    )
    from reelscore.human.imports.plain_tables import read_groups, read_questions
    from reelscore.human.judgments import Judgment, Judgments
    from reelscore.human.protocols import Criterion, Protocol, protocol
    from reelscore.human.simulate.campaigns import Simulation, Truth, simulate_campaign
    from reelscore.human.simulate.crowd import Crowd, fit_crowd
    from reelscore.human.simulate.power import Costs, Power, Setting, hits_needed, power_of
    from reelscore.human.store.records import Assignment, Event, Receipt, Skip, Status, Terms

__all__ = [
    "Agreement",
    "Assignment",
    "Campaign",
    "Choice",
    "Control",
    "Costs",
    "Coverage",
    "Criterion",
    "CriterionRanks",
    "Crowd",
    "Design",
    "Event",
    "Friedman",
    "Hit",
    "HitPlan",
    "HumanScores",
    "Icc",
    "Imported",
    "Judgment",
    "Judgments",
    "Layout",
    "MetricAccuracy",
    "Power",
    "Preference",
    "Protocol",
    "Quality",
    "Quorum",
    "RankingResults",
    "RaterCheck",
    "RaterQuality",
    "Receipt",
    "ReferenceResults",
    "Replication",
    "Results",
    "Rules",
    "Setting",
    "Shown",
    "Simulation",
    "Skip",
    "Standing",
    "Status",
    "Task",
    "Terms",
    "TopUp",
    "Truth",
    "Votes",
    "agreement",
    "build_hits",
    "build_pair_hits",
    "build_ranking_hits",
    "check_quality",
    "check_raters",
    "count_votes",
    "degrade",
    "evaluate_ratings",
    "fit_crowd",
    "friedman",
    "hits_needed",
    "icc",
    "judgments_csv",
    "krippendorff_alpha",
    "layout",
    "make_hits",
    "metric_accuracy",
    "more_hits",
    "power_of",
    "protocol",
    "read_groups",
    "read_judgments",
    "read_questions",
    "replicate",
    "rule_set",
    "score_against_reference",
    "score_choices",
    "score_judgments",
    "score_preferences",
    "score_rankings",
    "simulate_campaign",
    "standardize",
    "stream_judgments",
    "top_up",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "human.campaign": "Campaign",
        "human.evaluate.agreement": (
            "Agreement Icc Replication agreement icc krippendorff_alpha replicate"
        ),
        "human.evaluate.preferences": (
            "MetricAccuracy Preference RaterCheck check_raters metric_accuracy score_preferences"
        ),
        "human.evaluate.quality": "Control Quality RaterQuality check_quality",
        "human.evaluate.rankings": "CriterionRanks Friedman RankingResults friedman score_rankings",
        "human.evaluate.results": "Results evaluate_ratings",
        "human.evaluate.scores": "HumanScores score_judgments standardize",
        "human.evaluate.votes": (
            "Choice Quorum ReferenceResults Standing Votes count_votes "
            "score_against_reference score_choices"
        ),
        "human.hits.comparisons": "build_pair_hits build_ranking_hits",
        "human.hits.degraded": "Rules degrade rule_set",
        "human.hits.design": "Design make_hits more_hits",
        "human.hits.layouts": "Layout layout",
        "human.hits.plan": "Coverage HitPlan",
        "human.hits.ratings": "build_hits",
        "human.hits.tasks": "Hit Shown Task",
        "human.hits.top_up": "TopUp top_up",
        "human.imports.files": "Imported judgments_csv read_judgments stream_judgments",
        "human.imports.plain_tables": "read_groups read_questions",
        "human.judgments": "Judgment Judgments",
        "human.protocols": "Criterion Protocol protocol",
        "human.simulate.campaigns": "Simulation Truth simulate_campaign",
        "human.simulate.crowd": "Crowd fit_crowd",
        "human.simulate.power": "Costs Power Setting hits_needed power_of",
        "human.store.records": "Assignment Event Receipt Skip Status Terms",
    },
)
