"""Graders and wordings against each other."""

from experiments.stats.comparisons.anytime import confidence_sequence, first_look_above, question_means, random_order
from experiments.stats.comparisons.best_set import BestSet, RankedGrader, best_set
from experiments.stats.comparisons.corrected_effects import CorrectedEffects, correct_effects
from experiments.stats.comparisons.equivalence import MarginTest, equivalence_test, non_inferiority_test
from experiments.stats.comparisons.mcnemar import McNemar, PairedTable, mcnemar_test, paired_table
from experiments.stats.comparisons.multiplicity import AdjustedPValue, AdjustedPValues, adjust_p_values
from experiments.stats.comparisons.newcombe import newcombe_interval
from experiments.stats.comparisons.paired_comparison import PairedComparison, compare_all, paired_comparison
from experiments.stats.comparisons.pareto import ParetoFront, ParetoPoint, pareto_front
from experiments.stats.comparisons.random_effects import Heterogeneity, RandomEffects, heterogeneity, random_effects
from experiments.stats.comparisons.score_effects import score_effects
from experiments.stats.comparisons.wording_effects import WordingEffects, wording_effects
from experiments.stats.comparisons.wording_rule import RuleCheck, WordingDecision, WordingRule, decide_wording

__all__ = [
    "AdjustedPValue",
    "AdjustedPValues",
    "BestSet",
    "CorrectedEffects",
    "Heterogeneity",
    "MarginTest",
    "McNemar",
    "PairedComparison",
    "PairedTable",
    "ParetoFront",
    "ParetoPoint",
    "RandomEffects",
    "RankedGrader",
    "RuleCheck",
    "WordingDecision",
    "WordingEffects",
    "WordingRule",
    "adjust_p_values",
    "best_set",
    "compare_all",
    "confidence_sequence",
    "correct_effects",
    "decide_wording",
    "equivalence_test",
    "first_look_above",
    "heterogeneity",
    "mcnemar_test",
    "newcombe_interval",
    "non_inferiority_test",
    "paired_comparison",
    "paired_table",
    "pareto_front",
    "question_means",
    "random_effects",
    "random_order",
    "score_effects",
    "wording_effects",
]
