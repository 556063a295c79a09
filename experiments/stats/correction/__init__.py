"""Scores of a benchmark, corrected for the errors that its grader makes.

Two ways. :func:`correct_scores` inverts the confusion matrix of items that people labelled, wherever these come from,
and assumes that the error rates carry over. :func:`powered_scores` needs no such assumption, but labels on a random
part of the benchmark itself. Beside them: whether the correction is identified, where its variance comes from, and
what it would be under other error rates.
"""

from experiments.stats.correction.confusion_inversion import (
    CorrectedShares,
    NotIdentifiedError,
    correct_shares,
    invert_confusion,
    project_to_simplex,
)
from experiments.stats.correction.corrected_differences import (
    CorrectedDifferences,
    corrected_differences,
    corrected_pairs,
)
from experiments.stats.correction.corrected_scores import ScoreCorrection, correct_scores
from experiments.stats.correction.error_budget import ErrorBudget, error_budget
from experiments.stats.correction.identification import Identification, check_identification
from experiments.stats.correction.missing_items import missing_item_bounds
from experiments.stats.correction.post_stratification import MissingStrataError, post_stratification_weights
from experiments.stats.correction.prediction_powered import (
    PoweredMean,
    PoweredScore,
    powered_mean,
    powered_scores,
    tune_power,
)
from experiments.stats.correction.rogan_gladen import RoganGladen, rogan_gladen, rogan_gladen_interval
from experiments.stats.correction.samples import GradedItems, LabelledItems, RatedItems, Samples, build_samples
from experiments.stats.correction.sensitivity import (
    ScoreRange,
    StratumCorrection,
    box_ranges,
    carry_over_note,
    stratum_corrections,
)
from experiments.stats.correction.shared_calibration import SharedCalibration, share_calibration

__all__ = [
    "CorrectedDifferences",
    "CorrectedShares",
    "ErrorBudget",
    "GradedItems",
    "Identification",
    "LabelledItems",
    "MissingStrataError",
    "NotIdentifiedError",
    "PoweredMean",
    "PoweredScore",
    "RatedItems",
    "RoganGladen",
    "Samples",
    "ScoreCorrection",
    "ScoreRange",
    "SharedCalibration",
    "StratumCorrection",
    "box_ranges",
    "build_samples",
    "carry_over_note",
    "check_identification",
    "correct_scores",
    "correct_shares",
    "corrected_differences",
    "corrected_pairs",
    "error_budget",
    "invert_confusion",
    "missing_item_bounds",
    "post_stratification_weights",
    "powered_mean",
    "powered_scores",
    "project_to_simplex",
    "rogan_gladen",
    "rogan_gladen_interval",
    "share_calibration",
    "stratum_corrections",
    "tune_power",
]
