"""``autorater drift``: does a grader still judge its anchors as it did?"""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.analyses.gates.drift import find_drift
from experiments.analyses.gates.drift_page import drift_document, drift_fields
from experiments.analyses.graded_samples import GradedSample, find_graded, read_graded_samples
from experiments.commands.options import DEFAULT_STORE, StoreOption, check_level
from experiments.commands.page_output import EXIT_CODES, PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace, parse_place

__all__ = ["drift"]


def drift(
    old_run: Annotated[str, typer.Argument(metavar="OLD_RUN", help="The run that was kept.")],
    new_run: Annotated[str, typer.Argument(metavar="NEW_RUN", help="The run of the same items again.")],
    grader: Annotated[
        str | None, typer.Option("--grader", help="Prompt and model, or one of the two; needed with several graders.")
    ] = None,
    new_grader: Annotated[
        str | None, typer.Option("--new-grader", help="Its name in the new run; default: the same, or its only one.")
    ] = None,
    level: Annotated[
        float | None, typer.Option("--level", help="Of all tests together; default: the new run's.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    new_store: Annotated[
        StorePlace | None,
        typer.Option(
            "--new-store", parser=parse_place, metavar="PATH", help="Store of the new run; default: the same store."
        ),
    ] = None,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Compare a grader with itself on frozen anchors: exit 0 no shift shown, 1 shift, 3 undecided.

    Items are matched by content. What changed is named: served models, fingerprints, sampling in
    force, prompt. Tested are majority verdicts that moved by more than the repeats of both runs
    explain, both error rates and the failure rate. A store keeps each completion once, so the same
    grader is asked again in another store, or with another seed.

    \b
    Examples:
      autorater run anchors.toml --store december.sqlite
      autorater drift anchors anchors --store november.sqlite --new-store december.sqlite
    """
    check_level(level)
    with RunStore(store, must_exist=True) as opened:
        old = find_graded(read_graded_samples(load_run_data(opened, old_run)[0]), grader)
    option = "--store PATH" if new_store is None else "--new-store PATH"
    with RunStore(new_store or store, must_exist=True, option=option) as opened:
        data, analyses = load_run_data(opened, new_run)
    candidates = read_graded_samples(data)
    name = new_grader if new_grader or len(candidates) == 1 else old.name
    new = find_graded(candidates, name, option="--new-grader")
    _check_asked_again(old, new, same_store=(new_store or store).is_same(store))
    found = find_drift(old, new, level=level or analyses.level)
    write_page(drift_document(found), drift_fields(found), output_format, out)
    raise typer.Exit(EXIT_CODES[found.outcome])


def _check_asked_again(old: GradedSample, new: GradedSample, *, same_store: bool) -> None:
    if same_store and old.results.grader_id == new.results.grader_id:
        raise SpecError(
            f"{new.name}: both runs read the same completions of one store; expected a run that asked again, "
            "in --new-store or with another seed"
        )
