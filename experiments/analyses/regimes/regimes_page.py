"""The page of a run under regimes, ending in its decision; and the same as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from experiments.analyses.p_values import p_text
from experiments.analyses.regimes.comparing import RegimeComparison, RegimeMean
from experiments.analyses.regimes.losses import LOSSES, Loss
from experiments.analyses.regimes.regimes_words import decision_text, regime_word
from experiments.analyses.regimes.trait_groups import TRAITS, TraitGroup
from experiments.analyses.regimes.trait_slopes import TraitSlope
from experiments.reports.document import Block, Document, Paragraph, Section, Table
from experiments.reports.figures import DASH, coefficient_text, count_of, count_text, percent, signed_text
from experiments.reports.plain import estimate_fields
from experiments.stats.estimate import Estimate

__all__ = ["SCHEMA", "regimes_document", "regimes_fields"]

SCHEMA = "autorater.regimes/1"
"""Name and version of the JSON form."""
FEW_CLUSTERS = 10
"""With fewer questions the page says that intervals are rough."""


def regimes_document(found: RegimeComparison) -> Document:
    """The page: means, losses, groups of questions, decision."""
    sections = [
        Section(f"Regimes: {found.scores.run_id}", 1, (Paragraph(_about(found)),)),
        Section("Mean score by model and regime", 2, tuple(_mean_blocks(found))),
        Section("Losses, paired by question", 2, tuple(_loss_blocks(found))),
        Section("Score by what a question comes with", 2, tuple(_group_blocks(found))),
        Section("Decision", 2, (Paragraph(decision_text(found)),)),
    ]
    return Document(tuple(sections))


def _about(found: RegimeComparison) -> str:
    scores = found.scores
    cut = int(scores.traits["cut"].sum()) if "cut" in scores.traits else 0
    told = f" {count_of(cut, 'document')} were longer than they may be and lack their middle." if cut else ""
    if len(set(scores.clusters)) < FEW_CLUSTERS:
        told += f" With fewer than {FEW_CLUSTERS} questions intervals and tests are rough."
    return (
        f"{count_of(len(scores.clusters), 'question')}, {count_of(len(scores.models), 'model')}, "
        f"{count_of(scores.repeats, 'answer')} to each question under each regime, from 0 to 1, as {scores.grader} "
        f"judged them{_worth(scores.worth)}. A question's score is the mean of its answers; intervals are at "
        f"{percent(found.level)}, "
        f"clustered by question.{told}"
    )


def _worth(labels: Mapping[str, float]) -> str:
    """What labels count, where they are not the scores themselves."""
    if all(label == f"{score:g}" for label, score in labels.items()):
        return ""
    return f" ({', '.join(f'{label} counts {score:g}' for label, score in labels.items())})"


def _mean_blocks(found: RegimeComparison) -> Iterator[Block]:
    regimes = found.scores.regimes
    by_cell = {(mean.model, mean.regime): mean for mean in found.means}
    rows = [(model, *(_score(by_cell[model, regime].estimate) for regime in regimes)) for model in found.scores.models]
    yield Table(("model", *map(regime_word, regimes)), tuple(rows))
    yield from _unread_block(found)
    lacking = tuple(_missing_row(mean) for mean in found.means if _lacks(mean))
    if lacking:
        yield Paragraph("What is missing is no score; 'if all came' is where the mean could lie with it.")
        yield Table(
            ("model", "regime", "scored", "if all came", "no answer", "no verdict", "cut off"), lacking, n_text=2
        )


def _unread_block(found: RegimeComparison) -> Iterator[Block]:
    cells = [(mean, mean.cell.counts) for mean in found.means if mean.cell.counts.n_unread]
    if cells:
        told = (
            f"{mean.model} under {regime_word(mean.regime)} {cell.n_unread:,} of {cell.n_responses:,}"
            for mean, cell in cells
        )
        yield Paragraph(f"Answers before which no document was opened: {'; '.join(told)}.")


def _lacks(mean: RegimeMean) -> bool:
    return mean.bounds is not None or mean.cell.counts.n_truncated > 0


def _missing_row(mean: RegimeMean) -> tuple[str, ...]:
    cell = mean.cell.counts
    low, high = mean.bounds or (None, None)
    return (
        mean.model,
        regime_word(mean.regime),
        f"{mean.estimate.n} of {len(cell.questions)}",
        DASH if low is None or high is None else f"{low:.3f} to {high:.3f}",
        count_text(cell.missing, empty=DASH),
        count_text(cell.verdict_failures, empty=DASH),
        f"{cell.n_truncated:,}",
    )


def _loss_blocks(found: RegimeComparison) -> Iterator[Block]:
    if not found.losses:
        yield Paragraph("No two regimes that a loss is defined by were asked.")
        return
    for name, _, _ in LOSSES:
        rows = tuple(_loss_row(loss) for loss in found.losses if loss.name == name)
        if rows:
            yield Table((name, "difference", "adjusted p", "left out", "if all came", "shown"), rows)
    yield Paragraph(
        "Knowledge: concepts - instruction. Retrieval: concepts - related, or concepts - full set. Noise: related - "
        "full set. Tests are sign-flip tests over questions, of an average Student's, adjusted by Holm among these "
        f"{len(found.losses)}. 'Left out' are questions without a score on either side; 'if all came' is where the "
        "difference could lie with all that is missing."
    )


def _loss_row(loss: Loss) -> tuple[str, ...]:
    low, high = (None, None) if loss.worst is None else (loss.worst[0].value, loss.worst[1].value)
    return (
        loss.model,
        _signed(loss.difference.estimate),
        p_text(loss.adjusted),
        f"{loss.left_out:,}",
        DASH if low is None or high is None else f"{low:+.3f} to {high:+.3f}",
        loss.outcome if loss.outcome != "undecided" else DASH,
    )


def _score(estimate: Estimate) -> str:
    return coefficient_text(estimate_fields(estimate))


def _signed(estimate: Estimate) -> str:
    return signed_text(estimate_fields(estimate))


def _group_blocks(found: RegimeComparison) -> Iterator[Block]:
    regimes = [regime_word(regime) for regime in found.scores.regimes]
    for trait in TRAITS:
        groups = [group for group in found.groups if group.trait == trait]
        if not groups:
            yield Paragraph(f"Number of {trait}: {_alone(found, trait)}.")
            continue
        # What distractors cost is the difference that they make, whatever the questions of a group are like.
        more = ("noise loss",) if trait == "distractors" else ()
        rows = (_group_row(group)[: 3 + len(regimes) + len(more)] for group in groups)
        yield Table((trait, "model", "questions", *regimes, *more), tuple(rows), n_text=2)
    yield from _slope_blocks(found)
    if found.groups:
        yield Paragraph(
            "Groups are different questions, so that what differs between them is not the number's doing alone; "
            "intervals are each for itself."
        )


def _slope_blocks(found: RegimeComparison) -> Iterator[Block]:
    for trait in TRAITS:
        rows = tuple(_slope_row(slope) for slope in found.slopes if slope.trait == trait)
        if rows:
            heads = (trait, "model", "slope for one more", "adjusted p", "left out", "if all came")
            yield Table(heads, rows, n_text=2)
    if found.slopes:
        yield Paragraph(
            "A slope is what a score gains with one more, by least squares over questions, its error clustered by "
            f"question; tests are Student's, adjusted by Holm among these {len(found.slopes)}. Where a regime does not "
            "show what is counted, a slope tells how the questions differ otherwise. There is no interval where it "
            "would hang on a single question, or all scores lie on a line."
        )


def _slope_row(slope: TraitSlope) -> tuple[str, ...]:
    return (
        slope.of if slope.of == "noise loss" else regime_word(slope.of),
        slope.model,
        _signed(slope.slope.estimate),
        p_text(slope.adjusted),
        f"{slope.left_out:,}",
        DASH if slope.bounds is None else f"{slope.bounds[0]:+.3f} to {slope.bounds[1]:+.3f}",
    )


def _alone(found: RegimeComparison, trait: str) -> str:
    values = found.scores.traits.get(trait)
    return "not told of any question" if values is None else "the same in all questions; nothing to compare"


def _group_row(group: TraitGroup) -> tuple[str, ...]:
    number = str(group.low) if group.low == group.high else f"{group.low} to {group.high}"
    means = map(_score, group.means.values())
    return number, group.model, f"{group.n_questions:,}", *means, DASH if group.noise is None else _signed(group.noise)


def regimes_fields(found: RegimeComparison) -> dict[str, Any]:
    """The page as plain JSON values."""
    scores = found.scores
    return {
        "schema": SCHEMA,
        "run_id": scores.run_id,
        "grader": scores.grader,
        "level": found.level,
        "n_questions": len(scores.clusters),
        "repeats": scores.repeats,
        "scores": dict(scores.worth),
        "means": [_mean_fields(mean) for mean in found.means],
        "losses": [_loss_fields(loss) for loss in found.losses],
        "groups": [asdict(group) for group in found.groups],
        "slopes": [_slope_fields(slope) for slope in found.slopes],
        "missing": dict(sum((Counter(mean.cell.counts.missing) for mean in found.means), Counter[str]())),
        "decision": decision_text(found),
    }


def _mean_fields(mean: RegimeMean) -> dict[str, Any]:
    cell = mean.cell.counts
    return {
        "model": mean.model,
        "regime": mean.regime,
        "mean": estimate_fields(mean.estimate),
        "bounds": mean.bounds,
        "no_answer": dict(cell.missing),
        "no_verdict": dict(cell.verdict_failures),
        "n_truncated": cell.n_truncated,
        "n_unread": cell.n_unread,
    }


def _slope_fields(slope: TraitSlope) -> dict[str, Any]:
    return {
        "trait": slope.trait,
        "model": slope.model,
        "of": slope.of,
        "slope": estimate_fields(slope.slope.estimate),
        "p_value": slope.slope.p_value,
        "test": slope.slope.test,
        "adjusted_p_value": slope.adjusted,
        "left_out": slope.left_out,
        "bounds": slope.bounds,
    }


def _loss_fields(loss: Loss) -> dict[str, Any]:
    return {
        "loss": loss.name,
        "first": loss.first,
        "second": loss.second,
        "model": loss.model,
        "difference": estimate_fields(loss.difference.estimate),
        "p_value": loss.difference.p_value,
        "test": loss.difference.test,
        "adjusted_p_value": loss.adjusted,
        "left_out": loss.left_out,
        "worst": None if loss.worst is None else [estimate_fields(one) for one in loss.worst],
        "outcome": loss.outcome,
    }
