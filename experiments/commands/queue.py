"""``autorater queue``: what people should label next, and rates from the labels that come back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from calibration_sets.tables import read_table
from experiments.analyses.graded_samples import find_graded, read_graded_samples
from experiments.analyses.queues.queue_file import read_labelled_queue, write_queue_text
from experiments.analyses.queues.queue_rates import estimate_queue_rates
from experiments.analyses.queues.queueing import draw_queue
from experiments.analyses.queues.queueing_page import queue_document, queue_fields, rates_document, rates_fields
from experiments.commands.options import DEFAULT_STORE, StoreOption, check_level
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import ImportFileError, SpecError
from experiments.reports.report_file import check_report_file, write_report_file
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

__all__ = ["queue_app"]


class _DrawByDefault(TyperGroup):
    """``autorater queue RUN`` is ``autorater queue draw RUN``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help"):
            args = ["draw", *args]
        return super().parse_args(ctx, args)


queue_app = typer.Typer(
    cls=_DrawByDefault,
    no_args_is_help=True,
    help="""What people should label next, and rates from the labels that come back.

\b
Examples:
  autorater queue quickstart --most 50 --out queue.csv       (the same as 'queue draw quickstart ...')
  autorater queue rates queue_labelled.csv
""",
)


@queue_app.command("draw")
def draw(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    most: Annotated[int, typer.Option("--most", help="Items in the queue.")] = 50,
    random_share: Annotated[
        float, typer.Option("--random-share", help="Share of the queue that is drawn at random, above 0.")
    ] = 0.2,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random part.")] = 0,
    graders: Annotated[
        list[str] | None, typer.Option("--grader", help="Only this grader's verdicts; may be repeated.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: Annotated[Path | None, typer.Option("--out", help="CSV file of the queue, for people to fill in.")] = None,
) -> None:
    """Draw a review queue: most inconsistent first, then graders that disagree, then those against
    the range check, then those against people. Where labels have an order, as scores have, what lies
    furthest apart comes first, whatever the reason.

    A random part is always mixed in, and each row has the probability with which it got there, so
    that rates from the labels can be weighted. Fill in the column 'label' of every row, then give
    the file to 'autorater queue rates'.

    \b
    Examples:
      autorater queue quickstart --most 50 --out queue.csv
      autorater queue draw nightly --grader baseline/lexical --random-share 0.5 --seed 7 --out queue.csv
    """
    if out is not None:
        check_report_file(out)
        if out.suffix.lower() != ".csv":
            raise SpecError(f"--out {out}: ending {out.suffix!r}; expected .csv")
    with RunStore(store, must_exist=True) as opened:
        graded = read_graded_samples(load_run_data(opened, run)[0])
    chosen = [find_graded(graded, name) for name in graders] if graders else list(graded)
    drawn = draw_queue(chosen, most=most, random_share=random_share, seed=seed)
    if out is not None:
        write_report_file(out, write_queue_text(drawn))
        typer.echo(f"wrote {len(drawn.rows)} rows to {out}", err=True)
    write_page(queue_document(drawn), queue_fields(drawn), output_format, None)


@queue_app.command("rates")
def rates(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="The queue's file with people's labels.")],
    level: Annotated[float | None, typer.Option("--level", help="Confidence level; default: the run's.")] = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Estimate error rates from people's labels of a whole queue, each weighted by one over its probability.

    A queue of which rows were left out, or have no label, is refused: a plain rate over it would be
    one over the items that graders find hard.

    \b
    Example:
      autorater queue rates queue_labelled.csv
    """
    check_level(level)
    table = read_table(labels)
    table.require({"run": "run"})
    with RunStore(store, must_exist=True) as opened:
        data, analyses = load_run_data(opened, str(table.rows[0].cells["run"]))
    if data.run_id != str(table.rows[0].cells["run"]):
        raise ImportFileError(f"{table.file}: run {table.rows[0].cells['run']!r}; expected the whole id of a run")
    queue = read_labelled_queue(table, data.calibration_set.scale.labels)
    found = estimate_queue_rates(read_graded_samples(data), queue, level=level or analyses.level)
    write_page(rates_document(found), rates_fields(found), output_format, out)
