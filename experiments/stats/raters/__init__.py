"""People with each other, and a grader with people."""

from experiments.stats.raters.alternative_annotator import (
    AlternativeAnnotatorResult,
    RaterComparison,
    alternative_annotator_test,
)
from experiments.stats.raters.consensus import DawidSkeneConsensus, HumanConsensus, dawid_skene, human_consensus
from experiments.stats.raters.grader_beside_people import GraderBesidePeople, grader_beside_people
from experiments.stats.raters.human_ceiling import HumanCeiling, RaterCeiling, human_ceiling
from experiments.stats.raters.label_sets import LabelSetAgreement, label_set_agreement, masi_distance
from experiments.stats.raters.multi_rater import MultiRaterAgreement, multi_rater_agreement
from experiments.stats.raters.rater_agreement import Agreement, HumanAgreement, agreement, human_agreement

__all__ = [
    "Agreement",
    "AlternativeAnnotatorResult",
    "DawidSkeneConsensus",
    "GraderBesidePeople",
    "HumanAgreement",
    "HumanCeiling",
    "HumanConsensus",
    "LabelSetAgreement",
    "MultiRaterAgreement",
    "RaterCeiling",
    "RaterComparison",
    "agreement",
    "alternative_annotator_test",
    "dawid_skene",
    "grader_beside_people",
    "human_agreement",
    "human_ceiling",
    "human_consensus",
    "label_set_agreement",
    "masi_distance",
    "multi_rater_agreement",
]
