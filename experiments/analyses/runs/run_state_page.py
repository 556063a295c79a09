"""A run's state as a page, and as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from experiments.analyses.runs.run_listing_page import cost_text, moment_text
from experiments.analyses.runs.run_state import GraderState, RunState
from experiments.analyses.runs.run_workers_page import workers_fields, workers_section
from experiments.reports.call_times import seconds_text, time_fields
from experiments.reports.document import Bars, Bullets, Document, Paragraph, Section, Table
from experiments.reports.figures import DASH, count_text
from experiments.reports.label_words import label_words
from experiments.reports.plain import plain_value
from experiments.store.worker_listing import WorkerState
from graders.verdict import Usage

__all__ = ["run_state_document", "run_state_fields"]

SCHEMA = "autorater.run/1"


def run_state_document(state: RunState, workers: Sequence[WorkerState] | None = None) -> Document:
    """What the run is, how far it has come, who is at work where several may be, and what to do next."""
    sections = [_about(state), *_graders(state), *_rules(state), _progress(state)]
    if workers is not None:
        sections.append(workers_section(workers, {grader.grader_id: grader.number for grader in state.graders}))
    return Document((*sections, _next(state)))


def _about(state: RunState) -> Section:
    words = label_words({"label_source": state.label_source, "n_labelled": state.n_labelled, "n_tied": state.n_tied})
    points = (
        f"experiment {state.experiment}, recorded {moment_text(state.recorded_at)} UTC, replies read by the "
        f"{state.parser_rule} parser, intervals at {100 * state.level:g}%",
        f"set {state.set_name} {state.set_version}, digest {state.set_digest}",
        f"rubric {state.rubric}. {words.source}",
        f"{state.n_items:,} items of {state.n_items_in_set:,} in the set, {state.n_questions:,} questions, "
        f"{state.n_labelled:,} items labelled under that rubric",
        *_extras(state),
    )
    return Section(f"Run {state.run_id}", 1, (Bullets(points),))


def _extras(state: RunState) -> Iterator[str]:
    if state.n_stale:
        yield f"{state.n_stale:,} labels are of items that have changed since, and are left out"
    if state.respondents is not None:
        yield (f"the run itself asked for the responses: {count_text(state.respondents)}; nobody has labelled these")


def _graders(state: RunState) -> Iterator[Section]:
    for grader in state.graders:
        points = (
            f"id {grader.grader_id}, prompt {grader.prompt or 'none'}, rubric {grader.rubric or 'of the set'}",
            f"asked: {_settings(grader.sampling)}",
        )
        yield Section(f"Grader {grader.number}: {grader.model}", 2, (Bullets(points),))


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {'not known' if value is None else value}" for name, value in sorted(settings.items()))


def _rules(state: RunState) -> Iterator[Section]:
    if state.rules:
        points = tuple(
            f"{decision}: {json.dumps(plain_value(rule), sort_keys=True)}" for decision, rule in state.rules.items()
        )
        yield Section("Rules recorded with the run", 2, (Bullets(points),))


def _progress(state: RunState) -> Section:
    if not state.graders:
        return Section("How far it is", 2, (Paragraph("The run has no grader."),))
    columns = ("#", "grader", "valid", "failed", "not asked", "tokens in", "tokens out", "cost", "time of calls")
    shares = tuple(one.n_valid / one.n_expected if one.n_expected else None for one in state.graders)
    table = Table(columns, tuple(map(_progress_row, state.graders)), n_text=2, breaks=(5,), bars=(Bars(2, shares),))
    failed = tuple(
        f"grader {one.number}, without a label: {count_text(one.failures)}" for one in state.graders if one.failures
    )
    return Section("How far it is", 2, (table, *([Bullets(failed)] if failed else [])))


def _progress_row(grader: GraderState) -> tuple[str, ...]:
    usage = grader.usage or Usage()
    return (
        str(grader.number),
        grader.name,
        f"{grader.n_valid:,}/{grader.n_expected:,}",
        f"{sum(grader.failures.values()):,}",
        f"{grader.n_not_asked:,}",
        *(DASH if count is None else f"{count:,}" for count in (usage.input_tokens, usage.output_tokens)),
        cost_text(grader.cost),
        seconds_text(grader.times.seconds) if grader.times.n_timed else DASH,
    )


def _next(state: RunState) -> Section:
    steps = tuple(f"{step.command}: {step.why}" for step in state.steps)
    return Section("What to do next", 2, (Bullets(steps) if steps else Paragraph("Nothing can be done with it."),))


def run_state_fields(state: RunState, workers: Sequence[WorkerState] | None = None) -> dict[str, Any]:
    """The state as plain values; what is not known is ``null``. ``workers`` only where several may be at work."""
    shared = {} if workers is None else {"workers": workers_fields(workers)}
    return {
        "schema": SCHEMA,
        **{name: value for name, value in asdict(state).items() if name not in ("graders", "rules", "steps")},
        "rules": plain_value(state.rules),
        "graders": [_grader_fields(grader) for grader in state.graders],
        **shared,
        "next": [{"command": step.command, "why": step.why} for step in state.steps],
    }


def _grader_fields(grader: GraderState) -> dict[str, Any]:
    cost = grader.cost
    return asdict(grader) | {
        "sampling": plain_value(grader.sampling),
        "usage": None if grader.usage is None else asdict(grader.usage),
        "cost": None if cost is None else {"dollars": cost.amount, "complete": cost.complete},
        "times": time_fields(grader.times),
    }
