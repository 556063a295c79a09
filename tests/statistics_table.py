"""One table of all public statistics of items, each callable with the same data; and of those that are not of items."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import statistics_data as made
from statistics_arguments import (
    MEANS,
    NAMED_SCORE,
    NAMES,
    PAIR,
    POWERED,
    RATERS,
    SHARES,
    SINGLE,
    TWO_SETS,
    VALUES,
    WORDINGS,
    Statistic,
    always,
    both,
    chances,
    drawn,
    gain,
    gains,
    kept,
    of,
    right_of,
    sets_of_labels,
    steps_from_positive,
    sums,
    table,
    tallies,
    third_label,
    three,
    verdicts_confidence,
    verdicts_right,
    without_each,
    wrong,
)
from statistics_data import Data

from experiments.stats import clusters, comparisons, correction, errors, intervals, raters, repeats, scores
from experiments.stats.correction import GradedItems, LabelledItems
from experiments.stats.inputs import encode_clusters

ROOMS = ("clusters", "comparisons", "correction", "errors", "intervals", "planning", "raters", "repeats", "scores")


def by_scale(name: str, function: Callable[..., Any], **given: Callable[[Data], Any]) -> dict[str, Statistic]:
    levels = ("nominal", "ordinal", "interval")
    return {f"{name} {one}": of(function, scale_level=always(one), **given) for one in levels}


STATISTICS: dict[str, Statistic] = {
    # clusters
    "bca_interval": of(
        clusters.bca_interval, draws=drawn, value=lambda d: float(np.mean(right_of(d))), jackknife=without_each
    ),
    "bootstrap_sums": of(clusters.bootstrap_sums, sums=sums),
    "clustered_covariance": of(
        clusters.clustered_covariance,
        values=lambda d: made.array([right_of(d), gains(d)]).T,
        codes=lambda d: encode_clusters(kept(d), n=len(kept(d))),
    ),
    "clustered_mean": of(clusters.clustered_mean, **VALUES),
    "percentile_interval": of(clusters.percentile_interval, draws=drawn),
    "sign_flip_tests": of(clusters.sign_flip_tests, sums=sums),
    "standard_error": of(clusters.standard_error, estimate=gain),
    "student_p_value": of(clusters.student_p_value, estimate=gain),
    "sum_by_cluster": of(
        clusters.sum_by_cluster,
        contributions=lambda d: made.array([right_of(d), gains(d)]).T,
        codes=lambda d: encode_clusters(kept(d), n=len(kept(d))),
    ),
    # comparisons
    "best_set": of(comparisons.best_set, means=three),
    "compare_all": of(comparisons.compare_all, means=three),
    "equivalence_test": of(comparisons.equivalence_test, **PAIR),
    "mcnemar_test": of(comparisons.mcnemar_test, table=table),
    "newcombe_interval": of(comparisons.newcombe_interval, table=table),
    "non_inferiority_test": of(comparisons.non_inferiority_test, **PAIR),
    "paired_comparison": of(comparisons.paired_comparison, **PAIR),
    "paired_table": of(comparisons.paired_table, **SINGLE),
    "wording_effects": of(comparisons.wording_effects, **WORDINGS),
    # correction
    "box_ranges": of(correction.box_ranges),
    "build_samples": of(correction.build_samples),
    "check_identification": of(
        correction.check_identification,
        samples=lambda d: STATISTICS["build_samples"](d),
    ),
    "correct_scores": of(correction.correct_scores),
    "correct_scores bootstrap": of(correction.correct_scores, method=lambda _: "bootstrap"),
    "corrected_differences": of(
        correction.corrected_differences,
        first=lambda d: GradedItems(d.counts, d.clusters),
        second=lambda d: GradedItems(d.second, d.clusters),
    ),
    "corrected_differences bootstrap": of(
        correction.corrected_differences,
        first=lambda d: GradedItems(d.counts, d.clusters),
        second=lambda d: GradedItems(d.second, d.clusters),
        method=lambda _: "bootstrap",
        resamples=lambda d: 5 * d.resamples,  # of ratios of nine widths, each with the error of its draws
    ),
    "corrected_pairs": of(
        correction.corrected_pairs,
        graded=lambda d: [GradedItems(counts, d.clusters) for counts in (d.counts, d.second)],
        calibrations=lambda d: [LabelledItems(d.reference, d.counts, d.clusters)] * 2,
    ),
    "error_budget": of(correction.error_budget, score=lambda _: "f1"),
    "powered_mean": of(correction.powered_mean, **POWERED),
    "powered_scores": of(correction.powered_scores),
    "stratum_corrections": of(
        correction.stratum_corrections, strata=lambda d: [one == two for one, two in zip(*d.ratings[:2], strict=True)]
    ),
    "tune_power": of(
        correction.tune_power,
        truth=lambda d: made.array(POWERED["truth"](d)),
        predicted=lambda d: made.array(POWERED["predicted"](d)),
        unlabelled=lambda d: made.array(POWERED["unlabelled"](d)),
    ),
    # errors
    "bounded_error_rates": of(errors.bounded_error_rates),
    "confidence_calibration": of(
        errors.confidence_calibration, right=verdicts_right, confidence=verdicts_confidence, bins=always(5)
    ),
    "confusion_matrix": of(errors.confusion_matrix),
    "coverage": of(errors.coverage),
    "error_rate_bounds": of(errors.error_rate_bounds),
    "error_split": of(errors.error_split),
    "false_negative_rate": of(errors.false_negative_rate),
    "false_positive_rate": of(errors.false_positive_rate),
    "kish_size": of(errors.kish_size, probabilities=chances),
    "majority_curve": of(errors.majority_curve),
    "majority_error_rates": of(errors.majority_error_rates),
    "score_error_bounds": of(errors.score_error_bounds, values=steps_from_positive),
    "score_errors": of(errors.score_errors, values=steps_from_positive),
    "split_wrong_verdicts": of(
        errors.split_wrong_verdicts, wrong=wrong, valid=lambda d: [sum(row) for row in d.counts]
    ),
    "weighted_rate": of(errors.weighted_rate, probabilities=chances, **MEANS),
    # intervals
    "bounded_mean": of(intervals.bounded_mean, **MEANS),
    "clustered_standard_error": of(intervals.clustered_standard_error, **MEANS),
    "clustered_wilson": of(intervals.clustered_wilson, **MEANS),
    "few_clusters": of(intervals.few_clusters, estimate=gain),
    **{
        f"rate_interval {one}": of(intervals.rate_interval, method=always(one), **MEANS)
        for one in intervals.METHODS
        if one != "wilson"
    },
    # raters
    **by_scale("agreement", raters.agreement),
    **by_scale("alternative_annotator_test", raters.alternative_annotator_test),
    "dawid_skene": of(raters.dawid_skene, max_iterations=lambda _: 4, raters=lambda _: NAMES),
    "grader_beside_people": of(raters.grader_beside_people),
    **by_scale("human_agreement", raters.human_agreement),
    "human_ceiling": of(raters.human_ceiling),
    "human_consensus": of(raters.human_consensus),
    "label_set_agreement": of(raters.label_set_agreement, parts=sets_of_labels),
    **by_scale("multi_rater_agreement", raters.multi_rater_agreement, **RATERS),
    # repeats
    **by_scale("alpha_repeats", repeats.alpha_repeats),
    "correctness_components": of(repeats.correctness_components),
    "crossed_components": of(
        repeats.crossed_components,
        scores=lambda d: made.array([made.scores(d, one) for one in both(d)]).reshape(2, d.n, d.expected),
    ),
    "crossed_correctness_components": of(repeats.crossed_correctness_components, counts=both),
    "exact_agreement": of(repeats.exact_agreement),
    "exact_bounds": of(repeats.exact_bounds),
    "exact_entropy": of(repeats.exact_entropy),
    "exact_error_rates": of(repeats.exact_error_rates),
    "exact_flip_rate": of(repeats.exact_flip_rate),
    "exact_majority_error_rates": of(repeats.exact_majority_error_rates),
    "exact_pairwise_disagreement": of(repeats.exact_pairwise_disagreement),
    "flip_rate": of(repeats.flip_rate),
    "item_entropy": of(repeats.item_entropy),
    "mean_item_entropy": of(repeats.mean_item_entropy),
    "movement_test": of(repeats.movement_test, first=lambda d: d.counts, second=lambda d: d.second),
    "pairwise_disagreement": of(repeats.pairwise_disagreement),
    "variance_components": of(
        repeats.variance_components, scores=lambda d: made.array(made.scores(d, d.counts)).reshape(d.n, d.expected)
    ),
    # scores
    "benchmark_scores": of(scores.benchmark_scores, **SHARES),
    "benchmark_scores bootstrap": of(scores.benchmark_scores, method=lambda _: "bootstrap", **SHARES),
    "concept_scores": of(scores.concept_scores, tallies=tallies),
    "hallucination_bounds": of(scores.hallucination_bounds, incorrect=third_label),
    "hallucination_rate": of(scores.hallucination_rate, incorrect=third_label, **SHARES),
    "item_shares": of(scores.item_shares),
    "paired_score_differences": of(scores.paired_score_differences, **TWO_SETS),
    "paired_score_differences bootstrap": of(scores.paired_score_differences, test=lambda _: "bootstrap", **TWO_SETS),
    "paired_score_differences swap": of(scores.paired_score_differences, test=lambda _: "swap", **TWO_SETS),
    "score_bounds": of(scores.score_bounds),
    "score_gradient": of(scores.score_gradient, **NAMED_SCORE),
    "score_value": of(scores.score_value, **NAMED_SCORE),
    "unpaired_score_differences": of(scores.unpaired_score_differences, **TWO_SETS),
    "unpaired_score_differences bootstrap": of(
        scores.unpaired_score_differences, test=lambda _: "bootstrap", **TWO_SETS
    ),
}

EXEMPT = {
    "adjust_p_values": "of p-values",
    "budget_plan": "of costs and an expected score",
    "carry_over_note": "a sentence",
    "confidence_sequence": "of numbers in the order of their questions",
    "correct_effects": "of a grid of wordings and models, and labelled items",
    "correct_shares": "of shares and a confusion matrix",
    "decide_wording": "of a rule and effects",
    "design_effect": "of a design",
    "detectable_difference": "of a design",
    "detectable_difference_unpaired": "of a design",
    "first_look_above": "of numbers in the order of their questions",
    "heterogeneity": "of effects and their covariance",
    "invert_confusion": "of shares and confusion matrices",
    "labels_for_half_width": "of a rate and a design",
    "finite_rate_interval": "of three counts",
    "further_labels": "of three counts",
    "masi_distance": "of two sets",
    "missing_question_bounds": "of whole questions of several models",
    "paired_power": "of a design",
    "pareto_front": "of criteria",
    "planned_bounds": "of a rate and a design",
    "planned_half_width": "of a rate and a design",
    "post_stratification_weights": "of strata",
    "predicted_crossed_variance": "of components and a design",
    "predicted_difference_variance": "of components and a design",
    "predicted_variance": "of components and a design",
    "project_to_simplex": "of points",
    "missing_item_bounds": "of corrected shares",
    "question_means": "of items in an order of their questions",
    "random_effects": "of effects and their covariance",
    "random_order": "of names",
    "repeats_that_pay": "of variances and costs",
    "rogan_gladen": "of three rates",
    "share_calibration": "of labelled items for many cells",
    "score_covariance": "of questions of several models",
    "score_effects": "of a grid of wordings and models",
    "rogan_gladen_interval": "of three counts",
    "wilson": "of one count",
}
"""Public functions that take no items, and what they take; ``test_experiments_stats_table_exempt.py`` checks them."""
CHECKED_ELSEWHERE = {
    "confidence_sequence": "test_experiments_stats_anytime.py",
    "correct_effects": "test_experiments_stats_corrected_effects.py",
    "finite_rate_interval": "test_experiments_stats_finite_population.py",
    "first_look_above": "test_experiments_stats_anytime.py",
    "further_labels": "test_experiments_stats_finite_population.py",
    "missing_item_bounds": "test_experiments_stats_correction_missing_items.py",
    "missing_question_bounds": "test_experiments_stats_score_effects.py",
    "masi_distance": "test_experiments_stats_label_sets.py",
    "planned_bounds": "test_experiments_stats_planning.py",
    "question_means": "test_experiments_stats_anytime.py",
    "random_order": "test_experiments_stats_anytime.py",
    "score_covariance": "test_experiments_stats_score_effects.py",
    "score_effects": "test_experiments_stats_score_effects.py",
    "share_calibration": "test_experiments_stats_corrected_effects.py",
}
"""Exempt ones whose symmetries stand in a file of their own."""


def public_functions() -> set[str]:
    """Every public lower-case name of every room."""
    modules = [importlib.import_module(f"experiments.stats.{room}") for room in ROOMS]
    return {name for module in modules for name in module.__all__ if name[0].islower()}


WITHOUT_ESTIMATES = {
    "bca_interval",
    "best_set",
    "bootstrap_sums",
    "box_ranges",
    "build_samples",
    "clustered_covariance",
    "clustered_standard_error",
    "confusion_matrix",
    "coverage",
    "dawid_skene",
    "error_budget",
    "error_rate_bounds",
    "exact_bounds",
    "exact_entropy",
    "few_clusters",
    "hallucination_bounds",
    "human_consensus",
    "item_entropy",
    "item_shares",
    "kish_size",
    "mcnemar_test",
    "paired_table",
    "percentile_interval",
    "score_bounds",
    "score_error_bounds",
    "score_gradient",
    "score_value",
    "sign_flip_tests",
    "standard_error",
    "student_p_value",
    "sum_by_cluster",
    "tune_power",
}
WITH_ESTIMATES = set(STATISTICS) - WITHOUT_ESTIMATES
