"""How many labels, questions and repeats, and what they show."""

from experiments.stats.planning.label_counts import (
    design_effect,
    labels_for_half_width,
    planned_bounds,
    planned_half_width,
)
from experiments.stats.planning.planning_budget import (
    BudgetPlan,
    Costs,
    ExpectedScore,
    PlanLimits,
    RepeatPlan,
    budget_plan,
    repeats_that_pay,
)
from experiments.stats.planning.planning_power import (
    detectable_difference,
    detectable_difference_unpaired,
    paired_power,
)

__all__ = [
    "BudgetPlan",
    "Costs",
    "ExpectedScore",
    "PlanLimits",
    "RepeatPlan",
    "budget_plan",
    "design_effect",
    "detectable_difference",
    "detectable_difference_unpaired",
    "labels_for_half_width",
    "paired_power",
    "planned_bounds",
    "planned_half_width",
    "repeats_that_pay",
]
