"""A stored run for analysis in pandas: verdicts, items, labels, failures and the report's estimates as frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.errors import SpecError
from experiments.frames.columns import (
    ESTIMATES,
    FAILURES,
    GRADERS,
    HUMAN_LABELS,
    ITEMS,
    VERDICTS,
    Column,
    build_frame,
)
from experiments.reports import build_report
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.reference_labels import drop_stale_labels, join_labels
from experiments.reports.report_estimates import find_estimates
from experiments.reports.sample import expected_repeats, group_verdicts
from experiments.specs.joint_graders import name_graders
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace
from graders.verdict import FAILURES as REASONS
from graders.verdict import ParserRule, Verdict

__all__ = ["RunFrames", "load_run"]


def load_run(store: str | Path | StorePlace, run: str, *, parser: ParserRule | None = None) -> RunFrames:
    """Read a run from a store; no model is called, and nothing is written.

    Parameters
    ----------
    store
        The store's file, or ``postgresql://USER@HOST/DATABASE``.
    run
        Run id, or enough of its beginning.
    parser
        Read the replies by this rule (``robust`` or ``official``) instead of the experiment's.

    Returns
    -------
    RunFrames
        The run, whose methods give frames.

    Raises
    ------
    StoreError
        If there is no such store, or it cannot be read.
    RunNotFoundError
        If the store has no such run, or several whose ids begin so.
    SpecError
        If the official parser is asked for and no grader answers with letters.
    """
    with RunStore(store, must_exist=True, option="store") as opened:
        data, analyses = load_run_data(opened, run, parser=parser)
    return RunFrames(data, analyses.level)


@dataclass(frozen=True)
class RunFrames:
    """A run as frames, each made anew when it is asked for.

    A verdict without a label is ``NA`` with its reason beside it, and an estimate that is not defined is ``NA``: no
    column holds a number in their place. The columns stand in :mod:`experiments.frames.columns` and ``docs/python.md``.

    Parameters
    ----------
    data
        The run as it was read.
    level
        Confidence level of the intervals, between 0.5 and 1.
    """

    data: RunData
    level: float = 0.95

    @property
    def run_id(self) -> str:
        """The run's whole id."""
        return self.data.run_id

    @cached_property
    def report_fields(self) -> Mapping[str, Any]:
        """The JSON report, as ``autorater report --format json`` writes it.

        Raises
        ------
        SpecError
            If the run asked models that answer: it has counts of their answers, and no report of graders.
        """
        if self.data.answering is not None:
            raise SpecError(
                f"{self.run_id}: it asked models that answer, and nobody labelled; expected a run of graders for its "
                "report (verdicts() and items() can be had)"
            )
        return build_report(self.data, level=self.level)

    def verdicts(self) -> pd.DataFrame:
        """One row for each item, grader and repeat that was asked for; see :data:`experiments.frames.columns.VERDICTS`.

        Returns
        -------
        pandas.DataFrame
            Items in the order of their ids, within each grader of the run. ``agrees`` averaged over the rows with a
            label weighs items by their verdicts; the report weighs each item alike.

        Raises
        ------
        ValueError
            If verdicts do not fit the run: a label off the scale, one given twice.
        """
        return self._frame(VERDICTS, [row for place in self._places for row in self._verdict_rows(place)])

    def items(self) -> pd.DataFrame:
        """One row an item, with people's common label; see :data:`experiments.frames.columns.ITEMS`."""
        chosen, _ = drop_stale_labels(self.data.calibration_set)
        consensus = chosen.consensus()
        raters = Counter(given.item_id for given in chosen.human_labels if given.rubric == chosen.rubric)
        rows = [
            (
                item.item_id,
                item.digest,
                item.cluster_id,
                item.question,
                item.reference.text,
                item.response,
                item.kind,
                item.topic,
                item.answer_type,
                item.respondent,
                consensus.labels.get(item.item_id),
                raters[item.item_id],
                item.item_id in consensus.disputed if raters[item.item_id] else None,
            )
            for item in sorted(chosen.items, key=lambda item: (item.item_id, item.digest))
        ]
        return self._frame(ITEMS, rows)

    def human_labels(self) -> pd.DataFrame:
        """One row for each person's label; see :data:`experiments.frames.columns.HUMAN_LABELS`."""
        digests = {item.item_id: item.digest for item in self.data.calibration_set.items}
        rows = [
            (given.item_id, given.rater, given.label, given.rubric, given.item_digest != digests[given.item_id])
            for given in self.data.calibration_set.human_labels
            if given.item_id in digests
        ]
        return self._frame(HUMAN_LABELS, sorted(rows))

    def failures(self) -> pd.DataFrame:
        """Verdicts without a label, counted by reason; see :data:`experiments.frames.columns.FAILURES`."""
        missing = self.verdicts().loc[lambda frame: frame["failure"].notna()]
        counts: Counter[tuple[str, str, str, str | None]] = Counter(
            (grader, grader_id, failure, detail if failure == "not_answered" else None)
            for grader, grader_id, failure, detail in missing[["grader", "grader_id", "failure", "detail"]].itertuples(
                index=False
            )
        )
        asked = {section["grader_id"]: section["n_expected"] for section in self.report_fields["graders"]}
        rows = [(*key, n, n / asked[key[1]]) for key, n in counts.items()]
        return self._frame(FAILURES, rows)

    def graders(self) -> pd.DataFrame:
        """One row a grader; see :data:`experiments.frames.columns.GRADERS`."""
        rows = []
        for name, section in zip(self._names, self.report_fields["graders"], strict=True):
            sampling, usage, cost = section["sampling"], section["usage"], section["cost"] or {}
            rows.append(
                (
                    section["number"],
                    name,
                    section["grader_id"],
                    section["prompt"],
                    section["model"],
                    section["rubric"],
                    sampling.get("temperature"),
                    section["n_repeats"],
                    section["exact"] is not None,
                    section["n_expected"],
                    section["n_verdicts"],
                    section["coverage"],
                    usage["input_tokens"],
                    usage["output_tokens"],
                    cost.get("dollars"),
                    cost.get("complete"),
                )
            )
        return self._frame(GRADERS, rows)

    def report(self) -> pd.DataFrame:
        """One row for each estimate of the report; see :data:`experiments.frames.columns.ESTIMATES`."""
        rows = []
        for found in find_estimates(self.report_fields):
            section, fields = found.grader or {}, found.fields
            number = section.get("number")
            name = None if number is None else self._names[number - 1]
            place = (number, name, section.get("grader_id"), found.measure, found.by, found.part)
            interval = tuple(fields[key] for key in ("value", "low", "high", "level", "method"))
            basis = tuple(fields[key] for key in ("n", "clusters", "repeats"))
            rows.append((*place, *interval, *basis, found.not_defined))
        return self._frame(ESTIMATES, rows)

    @cached_property
    def _names(self) -> list[str]:
        graders = self.data.graders
        return name_graders(
            [one.prompt for one in graders], [one.model for one in graders], [one.grader_id for one in graders]
        )

    @property
    def _places(self) -> range:
        return range(len(self.data.graders))

    def _verdict_rows(self, place: int) -> Iterator[tuple[object, ...]]:
        results, name = self.data.graders[place], self._names[place]
        chosen, _ = drop_stale_labels(self.data.calibration_set)
        reference = join_labels(chosen, [results.rubric])[0].consensus.labels
        groups = group_verdicts(results.verdicts, grader_id=results.grader_id, items=chosen.items)
        expected = expected_repeats(results, groups)
        for item in sorted(chosen.items, key=lambda item: (item.item_id, item.digest)):
            own, label = groups.get(item.digest, {}), reference.get(item.item_id)
            for repeat in range(expected):
                verdict = own.get(repeat) or _not_asked(results, item.digest, repeat)
                agrees = None if label is None or verdict.label is None else verdict.label == label
                about = (item.item_id, item.cluster_id, item.digest, name, results.grader_id, repeat)
                yield (*about, verdict.label, verdict.failure, verdict.detail or None, label, agrees)

    def _frame(self, columns: Sequence[Column], rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
        scale = self.data.calibration_set.scale
        labels = pd.CategoricalDtype(list(scale.labels), ordered=scale.level != "nominal")
        graders = [one.grader_id for one in self.data.graders]
        categories = {
            "label": labels,
            "reference": labels,
            "failure": pd.CategoricalDtype(list(REASONS)),
            "grader": pd.CategoricalDtype(self._names),
            "grader_id": pd.CategoricalDtype(graders),
        }
        return build_frame(columns, rows, categories)


def _not_asked(results: GraderResults, item_digest: str, repeat: int) -> Verdict:
    """The verdict of a repeat that nobody has asked for yet."""
    return Verdict(item_digest, results.grader_id, repeat, None, "not_answered", "robust", "not_asked")
