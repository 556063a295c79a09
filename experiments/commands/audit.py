"""``autorater audit``: is a question set sound? A sample to label, the error rate, two versions compared, a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.audit.audit_folder import AUDIT_LABELS, start_audit
from calibration_sets.audit.version_comparison import VersionChange, compare_versions
from calibration_sets.curation.question_file import load_questions
from calibration_sets.writer import write_lines
from experiments.analyses.audits.auditing import AuditRule, judge_audit
from experiments.analyses.audits.auditing_page import audit_document, audit_fields
from experiments.commands.audit_card import card
from experiments.commands.audit_label import count_audit, label
from experiments.commands.options import check_level
from experiments.commands.page_output import EXIT_CODES, PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError

__all__ = ["audit_app"]

SHOWN = 10

audit_app = typer.Typer(
    no_args_is_help=True,
    help="""Is a question set sound? A random sample that people label, and its error rate against a threshold.

\b
Examples:
  autorater audit sample simple_qa_test_set.csv --to audit
  autorater audit label audit --open
  autorater audit report audit
  autorater audit card audit/card.toml --new
  autorater audit compare simple_qa_test_set.csv simpleqa_verified.csv
""",
)
FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of an audit.")]
SetArgument = Annotated[Path, typer.Argument(help="SimpleQA's or SimpleQA Verified's CSV, or JSON lines.")]


@audit_app.command()
def sample(
    file: SetArgument,
    to: Annotated[Path, typer.Option("--to", help="Folder for the audit.")],
    size: Annotated[
        int | None,
        typer.Option("--size", min=1, help="How many; all where there are no more. As drawn before, else 50."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the draw. As drawn before, else 0.")] = None,
) -> None:
    """Draw a random sample, each topic with its share, and write labels.csv to fill in.

    The same set with a larger --size extends the sample; what is labelled stays.

    \b
    Examples:
      autorater audit sample simple_qa_test_set.csv --to audit
      autorater audit sample simple_qa_test_set.csv --to audit --size 100
    """
    record = start_audit(load_questions(file), to, source=file.name, size=size, seed=seed)
    typer.echo(f"{len(record.questions)} of {record.n_population} questions, seed {record.seed}")
    for topic, count in record.by_topic.items():
        typer.echo(f"  {topic:<24} {count}")
    if record.n_repeated:
        typer.echo(f"{record.n_repeated} questions say the same as another, and count once")
    if record.n_unreached:
        typer.echo(f"{record.n_unreached} questions are in topics of which the sample has none")
    typer.echo(f"label them with 'autorater audit label {to}', or in {to / 'labels.csv'}: {', '.join(AUDIT_LABELS)}")


audit_app.command()(label)
audit_app.command()(card)


@audit_app.command()
def report(
    folder: FolderArgument,
    threshold: Annotated[float, typer.Option("--threshold", help="Error rate that a set may have.")] = 0.2,
    level: Annotated[float, typer.Option("--level", help="Of the interval.")] = 0.95,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """The error rate with its interval against a threshold: exit 0 no larger, 1 above, 3 undecided.

    \b
    Examples:
      autorater audit report audit
      autorater audit report audit --threshold 0.1 --format json
    """
    check_level(level)
    if not 0 <= threshold <= 1:
        raise SpecError(f"--threshold: {threshold:g}; expected a share from 0 to 1")
    found = judge_audit(count_audit(folder), AuditRule(threshold=threshold, level=level))
    write_page(audit_document(found), audit_fields(found), output_format, out)
    raise typer.Exit(EXIT_CODES[found.outcome])


@audit_app.command()
def compare(
    before: SetArgument,
    after: SetArgument,
    out: Annotated[Path | None, typer.Option("--out", help="Write all changes to this file, as JSON lines.")] = None,
) -> None:
    """Compare two versions of a set by content: exit 0 where they say the same, 1 where they differ.

    \b
    Example:
      autorater audit compare simple_qa_test_set.csv simpleqa_verified.csv
    """
    found = compare_versions(load_questions(before), load_questions(after))
    listed = {
        "reworded questions": found.reworded,
        "changed answers": found.changed_answers,
        "changed ranges": found.changed_ranges,
    }
    gone_or_new = {"added": found.added, "removed": found.removed}
    if out is not None:
        _write_changes(out, listed, gone_or_new)
    typer.echo(f"{found.n_matched} questions in both, {len(found.added)} added, {len(found.removed)} removed")
    for what, changes in listed.items():
        _list_changes(what, changes)
    for what, names in gone_or_new.items():
        if names:
            typer.echo(f"{what}: {', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}")
    raise typer.Exit(0 if found.is_same else 1)


def _write_changes(
    out: Path, listed: Mapping[str, Sequence[VersionChange]], gone_or_new: Mapping[str, Sequence[str]]
) -> None:
    changes = [{"what": what, **asdict(one)} for what, changed in listed.items() for one in changed]
    write_lines(
        out, [*changes, *({"what": what, "question_id": one} for what, names in gone_or_new.items() for one in names)]
    )


def _list_changes(what: str, changes: Sequence[VersionChange]) -> None:
    typer.echo(f"{len(changes)} {what}{', the first ' + str(SHOWN) if len(changes) > SHOWN else ''}")
    for change in changes[:SHOWN]:
        typer.echo(f"  {change.question_id}: {change.before!r} -> {change.after!r}")
