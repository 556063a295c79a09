"""All figures that a run has data for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.analyses.choice.choosing import Choice
from experiments.analyses.scores.scoring_results import Scoring
from experiments.analyses.wordings.wording_comparison import WordingResult
from experiments.plots.agreement import draw_agreement
from experiments.plots.confusion import draw_confusion
from experiments.plots.corrected_scores import draw_corrected_scores
from experiments.plots.error_cost import draw_error_cost, draw_error_time
from experiments.plots.error_rates import draw_error_rates
from experiments.plots.failures import draw_failures
from experiments.plots.figure import Figure
from experiments.plots.item_parts import draw_by_kind, draw_by_stratum
from experiments.plots.majority import draw_majority
from experiments.plots.wording_effects import draw_wording_effects
from experiments.reports.inputs import RunData

__all__ = ["build_figures"]


def build_figures(
    data: RunData,
    report: Mapping[str, Any] | None,
    *,
    choice: Choice | None = None,
    wordings: WordingResult | None = None,
    scoring: Scoring | None = None,
) -> tuple[Figure, ...]:
    """Draw what is known of a run; a figure without data is left out.

    Parameters
    ----------
    data
        The run.
    report
        Of :func:`experiments.reports.report.build_report`; ``None`` of a run that asked respondents, which has none.
    choice
        Of :func:`experiments.analyses.choice.choosing.choose_grader`, for cost and for topics and answer types.
    wordings
        Of :func:`experiments.analyses.wordings.wording_comparison.compare_wordings`.
    scoring
        Of :func:`experiments.analyses.scores.scoring.score_benchmark`, with a calibration.
    """
    drawn = _draw(data, report, choice, wordings, scoring)
    return tuple(figure for figure in drawn if figure is not None)


def _draw(
    data: RunData,
    report: Mapping[str, Any] | None,
    choice: Choice | None,
    wordings: WordingResult | None,
    scoring: Scoring | None,
) -> Iterator[Figure | None]:
    if report is not None:
        yield draw_error_rates(report)
    if choice is not None:
        yield draw_error_cost(choice)
        yield draw_error_time(choice)
    if report is not None:
        yield draw_confusion(report)
        yield draw_majority(report)
    if wordings is not None:
        yield draw_wording_effects(data, wordings)
    if report is not None:
        yield draw_agreement(data, report)
        yield draw_by_kind(report)
    if choice is not None and report is not None:
        yield draw_by_stratum(choice, report, "topic")
        yield draw_by_stratum(choice, report, "answer_type")
    if scoring is not None:
        yield draw_corrected_scores(scoring)
    if report is not None:
        yield draw_failures(report)
