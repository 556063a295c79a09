"""``autorater audit label``: an audit's sample on the labelling page, or one label from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.audit.audit_counts import AuditCounts, count_labels
from calibration_sets.audit.audit_folder import AUDIT_LABELS, label_question
from experiments.commands.review import HostOption, OpenOption, PortOption, progress_text, serve_desk
from experiments.errors import ReviewError
from experiments.reports.escaping import visible
from experiments.review.audit_items import AUDIT_RULES, RESPONSES
from experiments.review.audit_review import (
    audit_store,
    count_strange_labels,
    plan_audit_review,
    read_page_labels,
    read_shown_responses,
)
from experiments.review.desk import Desk, clean_name
from experiments.review.label_store import LabelStore
from experiments.review.links import find_links
from experiments.running.asking import warn_of_network

__all__ = ["count_audit", "label"]


def count_audit(folder: Path) -> AuditCounts:
    """The labels of an audit, those of its file and those of the page."""
    counts = count_labels(folder, read_page_labels(folder))
    return replace(counts, n_strange=counts.n_strange + count_strange_labels(folder))


def label(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of an audit.")],
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="A question_id of the sample.")] = None,
    label_name: Annotated[
        str | None, typer.Argument(metavar="LABEL", help=f"One of {', '.join(AUDIT_LABELS)}.")
    ] = None,
    evidence: Annotated[
        list[str] | None, typer.Option("--evidence", help="With a label: a link; may be given several times.")
    ] = None,
    note: Annotated[str, typer.Option("--note", help="With a label: why.")] = "",
    rater: Annotated[str | None, typer.Option("--rater", help="Who labels on the page; without, it asks.")] = None,
    responses: Annotated[
        Path | None,
        typer.Option("--responses", help="Responses to show: a table with question_id, model and response."),
    ] = None,
    double: Annotated[float, typer.Option("--double", help="Share of the questions that two people label.")] = 0.0,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8765,
    open_browser: OpenOption = False,
) -> None:
    """Label the sample on a page in the browser, or one question from here.

    Keys 1 to 4 label, n writes a note, s skips, u undoes; http and https addresses in a note are
    the evidence. The page asks for what has no label in labels.csv, and keeps its labels in
    labels.sqlite beside it; 'audit report' reads both.

    \b
    Examples:
      autorater audit label audit --open
      autorater audit label audit --responses answers.csv --rater Ann --double 0.2
      autorater audit label audit simpleqa-0012 false_negative_possible --evidence https://a.org/x
    """
    if (question is None) != (label_name is None) or (question is None and (evidence or note)):
        raise ReviewError("audit label: part of a label; expected a question and its label, or neither for the page")
    if question is not None and label_name is not None:
        _label_one(folder, question, label_name, evidence=_links(evidence or []), note=note)
        return
    named = None if rater is None else clean_name(rater)
    plan = plan_audit_review(folder, read_shown_responses(responses) if responses else {}, double_share=double)
    if responses:
        items = plan.review.calibration_set.items
        typer.echo(f"{sum(bool(item.metadata[RESPONSES]) for item in items)} of {len(items)} questions with responses")
    warn_of_network(audit_store(folder))
    with LabelStore(audit_store(folder)) as opened:
        desk = Desk(opened, plan)
        serve_desk(desk, named, rules=AUDIT_RULES, host=host, port=port, open_browser=open_browser)
        typer.echo(visible(f"stopped: {progress_text(desk)}; autorater audit report {folder}"))


def _links(evidence: Sequence[str]) -> str:
    for text in evidence:
        if len(find_links(text)) != 1 or len(text.split()) != 1 or not text.lower().startswith("http"):
            raise ReviewError(f"--evidence: {text!r}; expected one http or https address, and other words in --note")
    return " ".join(evidence)


def _label_one(folder: Path, question: str, label_name: str, *, evidence: str, note: str) -> None:
    said = next((one for one in read_page_labels(folder).values() if one.question_id == question), None)
    if said is not None and said.label != label_name:
        raise ReviewError(
            f"audit label: question {question!r} is {said.label or 'not decided'} on the page; expected the same, "
            "or another label there"
        )
    label_question(folder, question, label=label_name, evidence=evidence, note=note)
    counts = count_audit(folder)
    typer.echo(f"{sum(counts.labels.values())} labelled, {counts.n_open} to go")
