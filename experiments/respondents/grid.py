"""The grid of an answering run: each model under each answer prompt, on the same questions, as a grader judged it.

``read_grid(load_run_data(store, run)[0])`` gives for every cell the class shares of each question's
responses, all cells in the same order of questions, so that the rows of two cells are pairs:

>>> grid = read_grid(data)                                  # doctest: +SKIP
>>> control = grid.cells["openai/gpt-4.1-2025-04-14", "question_only@1.0.0"]  # doctest: +SKIP
>>> variant = grid.cells["openai/gpt-4.1-2025-04-14", "guess_is_free@1.0.0"]  # doctest: +SKIP
>>> both = ~np.isnan(control.shares).any(axis=1) & ~np.isnan(variant.shares).any(axis=1)  # doctest: +SKIP

A row is NaN where there is no response or no verdict of any: such a question is counted
(``n_no_response``, ``n_no_verdict``), and is no class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from experiments.errors import SpecError
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.sample import build_sample
from experiments.respondents.records import AnsweringRecord, RespondentRecord
from experiments.specs.joint_graders import find_name, name_graders
from graders.pricing import Cost

__all__ = ["Grid", "GridCell", "find_grader", "read_grid"]


@dataclass(frozen=True)
class GridCell:
    """One model under one answer prompt, on the n questions of the grid.

    Attributes
    ----------
    model, prompt
        The cell's key in :attr:`Grid.cells`; ``prompt`` is ``name@version``.
    questions
        (n,) ids, the same in every cell.
    shares
        (n, L) share of each label among a question's valid verdicts: responses of a question weigh
        equally, and so do the verdicts of a response. NaN where there is no response or no verdict.
    present
        (n,) the part of the verdicts asked for of a question's responses, all repeats of both, that is valid.
    n_no_response
        Questions without a usable response.
    n_no_verdict
        Questions with a response, none of which has a valid verdict.
    missing
        Reason to number of responses that were asked for and are not there (repeats count).
    verdict_failures
        Reason to number of verdicts without a label.
    n_responses, n_truncated
        Responses that were graded, and those among them that stopped at the token limit.
    n_unread
        Responses before which no document was opened, where that was to be done by a tool.
    cost
        Of answering; ``None`` where the model has no price.
    """

    model: str
    prompt: str
    questions: tuple[str, ...]
    shares: NDArray[np.float64]
    present: NDArray[np.float64]
    n_no_response: int
    n_no_verdict: int
    missing: Mapping[str, int] = field(default_factory=dict)
    verdict_failures: Mapping[str, int] = field(default_factory=dict)
    n_responses: int = 0
    n_truncated: int = 0
    n_unread: int = 0
    cost: Cost | None = None


@dataclass(frozen=True)
class Grid:
    """All cells as one grader judged them.

    Attributes
    ----------
    run_id
        The run.
    grader
        Prompt and model of the grader.
    labels
        (L,) in the order of the columns of ``shares``.
    correct, not_attempted
        The label that counts as right, and the one for declining; ``None`` where the scale has none.
    questions, clusters
        (n,) ids of the questions, and the cluster of each.
    models, prompts
        In the order of the experiment; ``prompts`` are ``name@version``.
    cells
        (model, prompt) to its cell; every pair is there.
    """

    run_id: str
    grader: str
    labels: tuple[str, ...]
    correct: str | None
    not_attempted: str | None
    questions: tuple[str, ...]
    clusters: tuple[str, ...]
    models: tuple[str, ...]
    prompts: tuple[str, ...]
    cells: Mapping[tuple[str, str], GridCell]


_DECLINED = "NOT_ATTEMPTED"


def read_grid(data: RunData, grader: str | None = None) -> Grid:
    """Line up the cells of an answering run.

    Parameters
    ----------
    data
        The run.
    grader
        Which grader's verdicts, where the run has several: its name, its id, or a part of its name, as
        :func:`experiments.specs.joint_graders.find_name` takes them.

    Raises
    ------
    SpecError
        If the run has no answering part, or ``grader`` is not exactly one of its graders.
    """
    answering = data.answering
    if answering is None:
        raise SpecError(f"{data.run_id}: no [answering] in its experiment; expected a run of one that has it")
    results, title = find_grader(data, grader)
    scale = data.calibration_set.scale
    items: dict[str, list[Item]] = {}
    for item in data.calibration_set.items:
        items.setdefault(str(item.respondent), []).append(item)
    judged = _judge(results, data.calibration_set.items, scale)
    cells = {
        (respondent.model, respondent.prompt): _cell(answering, respondent, items.get(respondent.name, []), judged)
        for respondent in answering.respondents
    }
    return Grid(
        run_id=data.run_id,
        grader=title,
        labels=scale.labels,
        correct=scale.positive,
        not_attempted=_DECLINED if _DECLINED in scale.labels else None,
        questions=tuple(question.question_id for question in answering.questions),
        clusters=tuple(question.cluster_id for question in answering.questions),
        models=answering.models,
        prompts=answering.prompts,
        cells=cells,
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A grader's verdicts: item id to its class shares (NaN without a valid one), part that is valid, and failures."""

    shares: Mapping[str, NDArray[np.float64]]
    present: Mapping[str, float]
    failures: Mapping[str, Mapping[str, int]]
    n_labels: int


def _judge(results: GraderResults, items: Sequence[Item], scale: LabelScale) -> _Judged:
    sample = build_sample(results, items, {}, scale=scale)
    shares = _rows_as_shares(sample.counts)
    ids = [item.item_id for item in sample.items]
    present = (sample.valid / sample.expected).tolist()
    return _Judged(
        shares=dict(zip(ids, shares, strict=True)),
        present=dict(zip(ids, present, strict=True)),
        failures=dict(zip(ids, sample.failures, strict=True)),
        n_labels=len(scale.labels),
    )


def _rows_as_shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, L) rows that sum to one; NaN where nothing was counted."""
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.full(counts.shape, np.nan)
    np.divide(counts, totals, out=shares, where=totals > 0)
    return shares


def _cell(answering: AnsweringRecord, respondent: RespondentRecord, items: Sequence[Item], judged: _Judged) -> GridCell:
    responses: dict[str, list[str]] = {}
    failures: Counter[str] = Counter()
    for item in items:
        responses.setdefault(item.metadata["question"], []).append(item.item_id)
        failures.update(judged.failures[item.item_id])
    questions = tuple(question.question_id for question in answering.questions)
    shares, present = np.full((len(questions), judged.n_labels), np.nan), np.zeros(len(questions))
    for row, question in enumerate(questions):
        own = responses.get(question, [])
        shares[row] = _mean_share([judged.shares[item_id] for item_id in own], judged.n_labels)
        # A sum of equal parts may pass 1 by a rounding error.
        present[row] = min(1.0, sum(judged.present[item_id] for item_id in own) / answering.repeats)
    answered = np.array([question in responses for question in questions], dtype=bool)
    return GridCell(
        model=respondent.model,
        prompt=respondent.prompt,
        questions=questions,
        shares=shares,
        present=present,
        n_no_response=int((~answered).sum()),
        n_no_verdict=int((answered & np.isnan(shares).any(axis=1)).sum()),
        missing=respondent.missing,
        verdict_failures=dict(sorted(failures.items())),
        n_responses=len(items),
        n_truncated=respondent.n_truncated,
        n_unread=respondent.n_unread,
        cost=respondent.cost,
    )


def _mean_share(rows: Sequence[NDArray[np.float64]], n_labels: int) -> NDArray[np.float64]:
    """(L,) mean over the responses of a question that have a verdict; NaN without any."""
    valid = [row for row in rows if not np.isnan(row).any()]
    return np.mean(valid, axis=0) if valid else np.full(n_labels, np.nan)


def find_grader(data: RunData, grader: str | None) -> tuple[GraderResults, str]:
    """The grader of a run that is meant, the only one where none is named, and its name.

    Raises
    ------
    SpecError
        If there is none, or more than one; the message lists the names.
    """
    graders = data.graders
    ids = [results.grader_id for results in graders]
    names = name_graders([results.prompt for results in graders], [results.model for results in graders], ids)
    if grader is None and len(graders) != 1:
        n = len(graders)
        raise SpecError(f"{data.run_id}: {n} graders; expected --grader with one of {names}")
    try:
        place = 0 if grader is None else find_name(names, grader, grader_ids=ids)
    except LookupError as error:
        raise SpecError(f"{data.run_id}: --grader: {error.args[0]}") from error
    return graders[place], names[place]
