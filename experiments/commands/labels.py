"""`autorater labels`: labels into files of other programs and back, and into calibration sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.label_files import ReviewArgument, export_labels, import_file
from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.commands.review import DEFAULT_LABELS, LabelsOption, MostOption, RandomShareOption, plan_review
from experiments.commands.terminal import terminal_width
from experiments.reports.escaping import visible
from experiments.reports.wrapping import wrap
from experiments.review.exchange.freezing import FreezeOptions, freeze_labels
from experiments.review.exchange.labels_page import labels_document, labels_fields
from experiments.review.exchange.set_folder import write_frozen_set
from experiments.review.label_store import LabelStore
from experiments.review.labels import label_rows
from experiments.review.review_state import read_state

__all__ = ["labels_app"]


labels_app = typer.Typer(
    no_args_is_help=True,
    help="""People's labels: show, export, import, freeze into a calibration set.

\b
Examples:
  autorater labels show
  autorater labels export --format label-studio --out tasks.json
  autorater labels import export.json --format label-studio --rater 3=Ann
  autorater labels freeze --name mine --version 1.0.0 --to ./mine
""",
)


labels_app.command("export")(export_labels)
labels_app.command("import")(import_file)


@labels_app.command("start")
def start(
    name: Annotated[str, typer.Argument(metavar="RUN|SET", help="A run of the store, a shipped set or a folder.")],
    double: Annotated[float, typer.Option("--double", help="Share of the items that two people label.")] = 0.2,
    most: MostOption = None,
    random_share: RandomShareOption = None,
    graders: Annotated[
        list[str] | None, typer.Option("--grader", help="Of a run: only this grader's verdicts; may be repeated.")
    ] = None,
    unlabelled: Annotated[bool, typer.Option("--unlabelled", help="Of a set: only items without a label.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", help="Of a set: only the first so many items.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of what is drawn.")] = 0,
    as_set: Annotated[bool, typer.Option("--set", help="The name is a set's, even if a run has it too.")] = False,
    labels: LabelsOption = DEFAULT_LABELS,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Record a review without opening its pages, to have it labelled in another program.

    With the same options 'autorater review' works on the same review.

    \b
    Example:
      autorater labels start ./my_set --double 0.5
      autorater labels export my_set --format argilla --out records.json
    """
    plan = plan_review(
        name, store, graders, as_set=as_set, most=most, random_share=random_share, seed=seed, double=double,
        unlabelled=unlabelled, limit=limit,
    )  # fmt: skip
    with LabelStore(labels) as opened:
        opened.create_review(plan.review)
    typer.echo(visible(f"review {plan.review.review_id}: {len(plan.review.work):,} items, in {labels}"))


@labels_app.command("show")
def show(
    review: ReviewArgument = None,
    labels: LabelsOption = DEFAULT_LABELS,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Print who gave how many labels, how far raters agree, and which items are disputed or undecided.

    \b
    Examples:
      autorater labels show
      autorater labels show quickstart --format json
    """
    with LabelStore(labels, must_exist=True) as opened:
        found = opened.find_review(review)
        events = opened.events(found)
    state, rows = read_state(found, events), label_rows(found, events)
    write_page(labels_document(state, rows), labels_fields(state, rows), output_format, out)


@labels_app.command("freeze")
def freeze(
    name: Annotated[str, typer.Option("--name", help="Of the set.")],
    version: Annotated[str, typer.Option("--version", help="Such as 1.0.0; a version never changes.")],
    to: Annotated[Path, typer.Option("--to", help="Folder for the set.")],
    review: ReviewArgument = None,
    licence: Annotated[str | None, typer.Option("--licence", help="Default: that of the reviewed set.")] = None,
    keep_disputed: Annotated[
        bool, typer.Option("--keep-disputed", help="Keep items whose reference a rater holds to be wrong.")
    ] = False,
    queue_as_is: Annotated[
        bool,
        typer.Option("--biased-queue-as-is", help="Freeze items that are there because graders were unsure of them."),
    ] = False,
    labels: LabelsOption = DEFAULT_LABELS,
) -> None:
    """Make a calibration set of a review's labels: a folder that 'run' and 'score' take, with its provenance.

    An adjudicated label is the reference label of its item. A review queue is no sample of a run and
    is refused, unless all of it was drawn at random: 'labels export --format queue' and 'queue rates'
    weigh its labels instead.

    \b
    Examples:
      autorater labels freeze --name mine --version 1.0.0 --to ./mine
      autorater labels freeze quickstart --name mine --version 1.1.0 --to ./mine_1.1.0 --keep-disputed
    """
    options = FreezeOptions(
        name=name, version=version, licence=licence, keep_disputed=keep_disputed, queue_as_is=queue_as_is
    )
    with LabelStore(labels, must_exist=True) as opened:
        found = opened.find_review(review)
        frozen = freeze_labels(found, opened.events(found), opened.list_reviews(), options)
    made = write_frozen_set(frozen.calibration_set, to)
    typer.echo("\n".join(wrap(visible(frozen.calibration_set.description), terminal_width())))
    if frozen.selection.is_biased:
        typer.echo("warning: this set is no sample; rates over it are those of items that graders find hard", err=True)
    done = "wrote" if made else "nothing to write, the same is there:"
    typer.echo(
        visible(
            f"{done} {name} {version}, {frozen.counts.n_items:,} items, digest "
            f"{frozen.calibration_set.digest[:12]}, in {to}"
        )
    )
