"""What verdicts say beside their label, as report fields: a confidence, lists of concepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calibration_sets.item import Item
from experiments.reports.inputs import GraderResults
from experiments.reports.plain import content_rng, estimate_fields
from experiments.reports.sample import Sample
from experiments.stats.errors.confidence import ReliabilityBin, confidence_calibration
from experiments.stats.scores.concept_scores import concept_scores
from graders.parsing.label_words import canonical_phrase
from graders.verdict import ConceptUse, Verdict

__all__ = ["concept_fields", "confidence_fields", "reference_concepts"]

Fields = dict[str, Any]

SCORES = ("micro_precision", "micro_recall", "micro_f1", "macro_precision", "macro_recall", "macro_f1")


def confidence_fields(results: GraderResults, sample: Sample, *, level: float, seed: str) -> Fields | None:
    """Calibration of the confidence that came with verdicts on labelled items; ``None`` where none came."""
    given = _by_item(results.verdicts, float)
    if not given:
        return None
    labelled = sample.labelled
    verdicts = [given.get(item.digest, []) for item in labelled.items]
    found = confidence_calibration(
        [
            [verdict.label == label for verdict in row]
            for row, label in zip(verdicts, labelled.labels_given, strict=True)
        ],
        [[float(verdict.finding) for verdict in row if isinstance(verdict.finding, float)] for row in verdicts],
        labelled.clusters,
        rng=content_rng(seed, "confidence"),
        level=level,
    )
    return {
        "accuracy": estimate_fields(found.accuracy),
        "over_confidence": estimate_fields(found.over_confidence),
        "brier": estimate_fields(found.brier),
        "calibration_error": estimate_fields(found.calibration_error),
        "error_by_chance": found.error_by_chance,
        "coverage": labelled.coverage,
        "curve": [_bin_fields(one) for one in found.curve],
    }


def _bin_fields(one: ReliabilityBin) -> Fields:
    return {
        "low": one.low,
        "high": one.high,
        "n_verdicts": one.n_verdicts,
        "mean_confidence": one.mean_confidence,
        "accuracy": estimate_fields(one.accuracy),
    }


def concept_fields(results: GraderResults, sample: Sample, *, level: float) -> Fields | None:
    """Precision, recall and F1 of the concepts that responses use; ``None`` where no verdict lists any.

    Verdicts whose lists do not make up the reference's concepts are counted and left out: their counts would be of
    another list.
    """
    given = _by_item(results.verdicts, ConceptUse)
    if not given:
        return None
    listed = [_uses(given.get(item.digest, [])) for item in sample.items]
    fitting = [[use for use in uses if _fits(use, item)] for uses, item in zip(listed, sample.items, strict=True)]
    n_listed, n_fitting = sum(map(len, listed)), sum(map(len, fitting))
    tallies = [[(len(use.used), len(use.foreign), len(use.missing)) for use in uses] for uses in fitting]
    found = concept_scores(tallies, sample.clusters, level=level)
    return {
        **{name: estimate_fields(getattr(found, name)) for name in SCORES},
        "n_verdicts": n_fitting,
        "n_other_lists": n_listed - n_fitting,
        "n_expected": sample.n_expected,
        "counts": {
            name: sum(tally[place] for row in tallies for tally in row)
            for place, name in enumerate(("true_positives", "false_positives", "false_negatives"))
        },
    }


def reference_concepts(item: Item) -> frozenset[str]:
    """The concepts that an item's reference lists, one a line, in the form in which names are compared."""
    lines = (canonical_phrase(line) for line in item.reference.text.splitlines())
    return frozenset(line for line in lines if line)


def _fits(use: ConceptUse, item: Item) -> bool:
    return {canonical_phrase(concept) for concept in (*use.used, *use.missing)} == reference_concepts(item)


def _uses(verdicts: Sequence[Verdict]) -> list[ConceptUse]:
    return [verdict.finding for verdict in verdicts if isinstance(verdict.finding, ConceptUse)]


def _by_item(verdicts: Sequence[Verdict], kind: type[float] | type[ConceptUse]) -> Mapping[str, list[Verdict]]:
    """Verdicts with a finding of that kind by the digest of their item, in the order of their repeats."""
    found: dict[str, list[Verdict]] = {}
    for verdict in sorted(verdicts, key=lambda one: one.repeat):
        if isinstance(verdict.finding, kind):
            found.setdefault(verdict.item_digest, []).append(verdict)
    return found
