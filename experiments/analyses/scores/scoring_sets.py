"""What a scoring's decision says of the same respondents on another set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.analyses.scores.score_table import ScoreContrast
from experiments.analyses.scores.scoring_results import Scoring
from experiments.analyses.scores.scoring_words import SCORE_NOUNS, difference_text, p_text, reason_text
from experiments.reports.figures import count_of

__all__ = ["set_sentences"]


def set_sentences(scoring: Scoring) -> Iterator[str]:
    """What differs between the sets, what is not shown to, and what is known as graded alone or of one set alone."""
    if scoring.against is None:
        return
    compared = scoring.set_contrasts
    known = [one for one in compared if one.corrected_of(scoring.choice.rank_by) is not None]
    noun, other = SCORE_NOUNS[scoring.choice.rank_by], scoring.against.set_title
    comparisons = count_of(len(compared), "comparison")
    yield f"Against {other}, {comparisons} across the sets."
    differing = [one for one in known if _differs(one, scoring)]
    if differing:
        yield (
            f"The corrected {noun} differs (Holm-adjusted), if the grader errs alike on both sets: "
            f"{_corrected(differing, scoring)}."
        )
    others = [one for one in known if not _differs(one, scoring)]
    if others:
        yield f"No difference of the corrected {noun} is shown (Holm-adjusted): {_corrected(others, scoring)}."
    yield from _uncorrected([one for one in compared if one not in known], scoring)
    yield from _on_one_set(scoring)


def _differs(contrast: ScoreContrast, scoring: Scoring) -> bool:
    adjusted = contrast.corrected_adjusted.get(scoring.choice.rank_by)
    return adjusted is not None and adjusted < 1 - scoring.choice.level


def _corrected(contrasts: Sequence[ScoreContrast], scoring: Scoring) -> str:
    name = scoring.choice.rank_by
    return "; ".join(
        f"{_who(one)} {difference_text(name, one.corrected_of(name))}, p {p_text(one.corrected_adjusted.get(name))}"
        for one in contrasts
    )


def _uncorrected(contrasts: Sequence[ScoreContrast], scoring: Scoring) -> Iterator[str]:
    """The differences as graded, which the grader's errors may have made, with the reason."""
    name = scoring.choice.rank_by
    reasons: dict[str, list[str]] = {}
    for one in contrasts:
        told = f"{_who(one)} {difference_text(name, one.graded[name])}, p {p_text(one.graded_adjusted.get(name))}"
        reasons.setdefault(reason_text(one.corrected.reason) or "not defined", []).append(told)
    for reason, shown in reasons.items():
        yield f"Difference as graded alone, not to be taken for one of the true scores ({reason}): {'; '.join(shown)}."


def _on_one_set(scoring: Scoring) -> Iterator[str]:
    """Respondents that were not compared, for want of the other set."""
    assert scoring.against is not None
    done = {name for one in scoring.set_contrasts for name in (one.first, one.second)}
    for benchmark in (scoring.benchmark, scoring.against):
        alone = [one.name for one in benchmark.respondents if one.name not in done]
        if alone:
            yield f"Only in {benchmark.set_title}, and so not compared: {', '.join(alone)}."


def _who(contrast: ScoreContrast) -> str:
    return contrast.first if contrast.first == contrast.second else f"{contrast.first} - {contrast.second}"
