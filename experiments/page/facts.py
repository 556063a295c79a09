"""The page's short tables: facts of the run, what is missing, sampling in force, and where all of it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from experiments.reports.call_times import NOT_RECORDED
from experiments.reports.document import Block, Bullets, Paragraph, Table
from experiments.reports.figures import DASH, count_text, listing, percent
from experiments.reports.inputs import RunData
from experiments.reports.label_words import label_words
from experiments.reports.pages import drawn_text, people_text
from graders.pricing import Cost

__all__ = ["Dates", "failure_blocks", "grader_title", "provenance_blocks", "run_facts", "sampling_blocks"]

Fields = Mapping[str, Any]
Dates = Mapping[str, tuple[str, str]]
"""Grader id to the first and last time at which a completion of the run was stored."""


def grader_title(grader: Fields) -> str:
    """Number, prompt and model of a grader."""
    prompt = f"{grader['prompt'].partition('#')[0]} " if grader["prompt"] else ""
    return f"{grader['number']}. {prompt}{grader['model']}"


def run_facts(report: Fields) -> tuple[tuple[str, str], ...]:
    """What the run is about, in numbers."""
    about, graders = report["set"], report["graders"]
    valid, asked = (sum(grader[name] for grader in graders) for name in ("n_verdicts", "n_expected"))
    return (
        ("Set", f"{about['name']} {about['version']}"),
        ("Items", f"{about['n_items']:,}, on {about['n_questions']:,} questions"),
        ("Labelled", count_text(about["label_counts"])),
        ("Graders", f"{len(graders):,}"),
        ("Valid verdicts", f"{valid:,} of {asked:,}, {percent(valid / asked if asked else None)}"),
        ("Cost", _total_cost(graders)),
    )


def _total_cost(graders: list[Fields]) -> str:
    known = [grader["cost"] for grader in graders if grader["cost"] is not None]
    if not known:
        return "not known"
    complete = len(known) == len(graders) and all(cost["complete"] for cost in known)
    return str(Cost(sum(cost["dollars"] for cost in known), complete))


def failure_blocks(report: Fields) -> tuple[Block, ...]:
    """Verdicts that are missing, by reason and grader."""
    graders = report["graders"]
    reasons = sorted({reason for grader in graders for reason in grader["failures"]})
    if not reasons:
        total = sum(grader["n_expected"] for grader in graders)
        return (Paragraph(f"None is missing: all {total:,} verdicts have a label."),)
    rows = tuple(
        (
            grader_title(grader),
            *(f"{grader['failures'].get(reason, 0):,}" for reason in reasons),
            f"{grader['n_expected'] - grader['n_verdicts']:,}",
            f"{grader['n_expected']:,}",
            percent(grader["coverage"]),
        )
        for grader in graders
    )
    table = Table(("grader", *(reason.replace("_", " ") for reason in reasons), "missing", "asked", "coverage"), rows)
    calls = tuple(_call_reasons(graders))
    return (table, *((Bullets(calls),) if calls else ()))


def _call_reasons(graders: list[Fields]) -> Iterator[str]:
    for grader in graders:
        if grader["not_answered"]:
            yield f"{grader_title(grader)}: calls without an answer: {count_text(grader['not_answered'])}"
        if grader["failed_calls"]:
            yield (
                f"{grader_title(grader)}: calls that went wrong, whether or not a later one succeeded: "
                f"{count_text(grader['failed_calls'])}"
            )


def sampling_blocks(report: Fields) -> tuple[Block, ...]:
    """What was asked for, and what was really in force."""
    rows = tuple(
        (
            grader_title(grader),
            _settings(grader["sampling"]),
            " | ".join(map(_settings, grader["effective_sampling"])) or "not known",
            drawn_text(grader),
            _served(grader),
        )
        for grader in report["graders"]
    )
    return (Table(("grader", "asked", "in force", "drawn at", "served by"), rows, n_text=5),)


def _settings(settings: Fields) -> str:
    return ", ".join(f"{name} {DASH if value is None else value}" for name, value in sorted(settings.items())) or DASH


def _served(grader: Fields) -> str:
    served = count_text(grader["served"], empty=listing(grader["served_models"]))
    prints = grader["fingerprints"]
    return f"{served}; {len(prints):,} backend{'s' if len(prints) > 1 else ''}" if prints else served


def provenance_blocks(report: Fields, data: RunData, *, recorded: str | None, dates: Dates) -> tuple[Block, ...]:
    """Digests, versions, seeds, dates and costs: enough to find all of it again."""
    run, about = report["run"], report["set"]
    rows = (
        ("run", run["run_id"]),
        ("experiment", run["experiment"]),
        ("recorded", recorded or NOT_RECORDED),
        ("set", f"{about['name']} {about['version']}, {run['n_items']:,} of its {run['n_items_in_set']:,} items"),
        ("digest of the set", about["digest"]),
        ("rubric of its labels", about["rubric"]),
        ("labels", label_words(about).source),
        ("agreement", people_text(report["human_agreement"])),
        ("licence, source", ", ".join(filter(None, (data.calibration_set.licence, data.calibration_set.source)))),
        ("parser of replies", run["parser_rule"]),
        ("level of intervals", f"{run['level']:.0%}"),
        ("report", f"{report['schema']}, autorater-calibration {version('autorater-calibration')}"),
    )
    graders = tuple(_grader_row(grader, dates.get(grader["grader_id"])) for grader in report["graders"])
    columns = ("grader", "id", "prompt and digest", "rubric", "seed", "stored, first to last", "tokens", "cost")
    return Table(("what", "which"), rows, n_text=2), Table(columns, graders, n_text=6)


def _grader_row(grader: Fields, dates: tuple[str, str] | None) -> tuple[str, ...]:
    seed, usage, cost = grader["sampling"].get("seed"), grader["usage"], grader["cost"]
    read, written = usage["input_tokens"], usage["output_tokens"]
    return (
        grader_title(grader),
        grader["grader_id"],
        grader["prompt"] or DASH,
        grader["rubric"],
        DASH if seed is None else str(seed),
        NOT_RECORDED if dates is None else " to ".join(dict.fromkeys(one[:19] + "Z" for one in dates)),
        "not known" if read is None or written is None else f"{read:,} in, {written:,} out",
        "not known" if cost is None else str(Cost(cost["dollars"], cost["complete"])),
    )
