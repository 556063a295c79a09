"""What a run under regimes shows, in words that a person can sign."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.analyses.p_values import p_text
from experiments.analyses.regimes.comparing import RegimeComparison
from experiments.analyses.regimes.losses import ALL_MODELS, Loss, LossName
from experiments.regimes.regime_names import RegimeName
from experiments.reports.figures import count_of, percent, signed_text
from experiments.reports.plain import estimate_fields

__all__ = ["decision_text", "regime_word"]

_WORDS: dict[RegimeName, str] = {
    "instruction_only": "instruction",
    "concepts_only": "concepts",
    "related_documents": "related",
    "full_set": "full set",
}

_KINDS: dict[LossName, str] = {
    "knowledge": "knowledge loss",
    "retrieval, related": "retrieval loss on the related documents",
    "retrieval, full set": "retrieval loss on the full set",
    "noise": "noise loss",
}


def regime_word(regime: RegimeName) -> str:
    """A regime as tables name it."""
    return _WORDS[regime]


def decision_text(found: RegimeComparison) -> str:
    """What is shown, what is not decided, and what it rests on."""
    scores = found.scores
    n = len(found.losses)
    tests = "the one loss" if n == 1 else f"all {n} losses together"
    parts = [f"On {count_of(len(scores.clusters), 'question')}, at {percent(found.level)} for {tests}."]
    parts += [f"{head}: {'; '.join(map(_told, losses))}." for head, losses in _sorted(found.losses) if losses]
    parts.append(_rests_on(found))
    return " ".join(parts)


def _sorted(losses: Sequence[Loss]) -> list[tuple[str, list[Loss]]]:
    """Losses under what is to be said of them; that one is not decided never says that there is none."""
    undecided = [loss for loss in losses if loss.outcome == "undecided"]
    return [
        ("Shown", [loss for loss in losses if loss.outcome == "loss"]),
        ("The opposite is shown, a gain", [loss for loss in losses if loss.outcome == "gain"]),
        ("Not decided, as what is missing could overturn it", [loss for loss in undecided if _is_held_back(loss)]),
        ("Not decided, and not shown to be absent either", [loss for loss in undecided if not _is_held_back(loss)]),
    ]


def _told(loss: Loss) -> str:
    owner = "the average of these models" if loss.model == ALL_MODELS else loss.model
    pair = f"{regime_word(loss.first)} - {regime_word(loss.second)}"
    figures = f"{signed_text(estimate_fields(loss.difference.estimate))}, adjusted p {p_text(loss.adjusted)}"
    return f"{_KINDS[loss.name]} of {owner} ({pair} {figures})"


def _is_held_back(loss: Loss) -> bool:
    alpha = 1 - loss.difference.estimate.level + 1e-12
    return loss.outcome == "undecided" and loss.adjusted is not None and loss.adjusted <= alpha


def _rests_on(found: RegimeComparison) -> str:
    cells = [mean.cell.counts for mean in found.means]
    n_answers = sum(sum(cell.missing.values()) for cell in cells)
    n_verdicts = sum(sum(cell.verdict_failures.values()) for cell in cells)
    missing = (
        f"{count_of(n_answers, 'answer')} and {count_of(n_verdicts, 'verdict')} are missing and are no score. "
        if n_answers or n_verdicts
        else "Nothing is missing. "
    )
    return (
        f"{missing}Scores are as {found.scores.grader} gave them: its errors are not corrected, and if it marks "
        "answers of one regime differently from those of another, that is in these differences. They hold for "
        "questions like these and for these models."
    )
