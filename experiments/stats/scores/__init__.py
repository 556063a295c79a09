"""Scores of a benchmark, and their differences."""

from experiments.stats.scores.benchmark_scores import benchmark_scores, score_bounds
from experiments.stats.scores.concept_scores import ConceptScores, concept_scores
from experiments.stats.scores.hallucination import hallucination_bounds, hallucination_rate
from experiments.stats.scores.score_covariance import missing_question_bounds, score_covariance
from experiments.stats.scores.score_differences import (
    ScoreDifferences,
    paired_score_differences,
    unpaired_score_differences,
)
from experiments.stats.scores.score_functions import SCORES, Score, item_shares, score_gradient, score_value

__all__ = [
    "SCORES",
    "ConceptScores",
    "Score",
    "ScoreDifferences",
    "benchmark_scores",
    "concept_scores",
    "hallucination_bounds",
    "hallucination_rate",
    "item_shares",
    "missing_question_bounds",
    "paired_score_differences",
    "score_bounds",
    "score_covariance",
    "score_gradient",
    "score_value",
    "unpaired_score_differences",
]
