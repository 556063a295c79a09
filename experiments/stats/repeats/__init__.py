"""A grader against itself: inconsistency, and where the variance comes from."""

from experiments.stats.repeats.exact import (
    exact_agreement,
    exact_bounds,
    exact_entropy,
    exact_error_rates,
    exact_flip_rate,
    exact_majority_error_rates,
    exact_pairwise_disagreement,
)
from experiments.stats.repeats.inconsistency import (
    alpha_repeats,
    flip_rate,
    item_entropy,
    mean_item_entropy,
    pairwise_disagreement,
)
from experiments.stats.repeats.movement import Movement, movement_test
from experiments.stats.repeats.predicted_variance import (
    predicted_crossed_variance,
    predicted_difference_variance,
    predicted_variance,
)
from experiments.stats.repeats.variance_components import (
    Component,
    CrossedComponents,
    VarianceComponents,
    correctness_components,
    crossed_components,
    crossed_correctness_components,
    variance_components,
)

__all__ = [
    "Component",
    "CrossedComponents",
    "Movement",
    "VarianceComponents",
    "alpha_repeats",
    "correctness_components",
    "crossed_components",
    "crossed_correctness_components",
    "exact_agreement",
    "exact_bounds",
    "exact_entropy",
    "exact_error_rates",
    "exact_flip_rate",
    "exact_majority_error_rates",
    "exact_pairwise_disagreement",
    "flip_rate",
    "item_entropy",
    "mean_item_entropy",
    "movement_test",
    "pairwise_disagreement",
    "predicted_crossed_variance",
    "predicted_difference_variance",
    "predicted_variance",
    "variance_components",
]
