"""`autorater review`: people label the items of a run or a set, on pages of their own machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.errors import SetNotFoundError
from calibration_sets.loader import list_shipped_sets, load_set
from experiments.analyses.graded_samples import find_graded, read_graded_samples
from experiments.analyses.queues.queueing import draw_queue
from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.errors import ReviewError
from experiments.reports.escaping import visible
from experiments.review.desk import Desk, clean_name
from experiments.review.label_store import LabelStore
from experiments.review.progress import measure_progress
from experiments.review.work_list import ReviewPlan, plan_run_review, plan_set_review
from experiments.running.asking import warn_of_network
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace
from graders.errors import MissingDependencyError, PromptError
from graders.prompt_library import load_prompt

__all__ = [
    "DEFAULT_LABELS",
    "HostOption",
    "LabelsOption",
    "MostOption",
    "OpenOption",
    "PortOption",
    "RandomShareOption",
    "plan_review",
    "progress_text",
    "review",
    "serve_desk",
]

DEFAULT_LABELS = Path("labels.sqlite")
"""The label store where none is named: a file of the current folder."""
_MOST, _RANDOM_SHARE = 50, 0.2
"""What a run's queue is unless somebody says otherwise: a set has none, so that it must be known who did."""
HostOption = Annotated[
    str, typer.Option("--host", help="Address to listen on; any but loopback asks visitors for a token.")
]
PortOption = Annotated[int, typer.Option("--port", help="0 for any that is free.")]
MostOption = Annotated[
    int | None, typer.Option("--most", show_default=str(_MOST), help="Of a run: items in its queue.")
]
RandomShareOption = Annotated[
    float | None,
    typer.Option(
        "--random-share", show_default=str(_RANDOM_SHARE), help="Of a run: share of the queue that is drawn at random."
    ),
]
OpenOption = Annotated[bool, typer.Option("--open", help="Open a browser.")]
LabelsOption = Annotated[
    Path, typer.Option("--labels", envvar="AUTORATER_LABELS", help="SQLite file that keeps every label.")
]


def review(
    name: Annotated[str, typer.Argument(metavar="RUN|SET", help="A run of the store, a shipped set or a folder.")],
    rater: Annotated[str | None, typer.Option("--rater", help="Who labels; without, a page asks.")] = None,
    double: Annotated[float, typer.Option("--double", help="Share of the items that two people label.")] = 0.2,
    show_verdicts: Annotated[
        bool, typer.Option("--show-verdicts", help="Show what graders said at once; labels are recorded as not blind.")
    ] = False,
    most: MostOption = None,
    random_share: RandomShareOption = None,
    graders: Annotated[
        list[str] | None, typer.Option("--grader", help="Of a run: only this grader's verdicts; may be repeated.")
    ] = None,
    unlabelled: Annotated[bool, typer.Option("--unlabelled", help="Of a set: only items without a label.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", help="Of a set: only the first so many items.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of what is drawn.")] = 0,
    as_set: Annotated[bool, typer.Option("--set", help="The name is a set's, even if a run has it too.")] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8765,
    open_browser: OpenOption = False,
    labels: LabelsOption = DEFAULT_LABELS,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Label items on a page in the browser: the review queue of a run, or the items of a set.

    Keys 1, 2, 3 label, n writes a note, s skips, d disputes the reference, u undoes. Each label is
    on disk before the next item comes; stop with Ctrl-C and give the same command again to go on.
    No model is called. Nobody but this machine can reach the page unless --host says otherwise.

    \b
    Examples:
      autorater review quickstart --open
      autorater review quickstart --most 100 --rater Ann
      autorater review ./my_set --unlabelled --double 0.5
      autorater review probes --limit 30 --host 0.0.0.0 --port 8000   (others come with the token printed)
    """
    named = None if rater is None else clean_name(rater)
    plan = plan_review(
        name, store, graders, as_set=as_set, most=most, random_share=random_share, seed=seed, double=double,
        unlabelled=unlabelled, limit=limit,
    )  # fmt: skip
    warn_of_network(labels)
    with LabelStore(labels) as opened:
        desk = Desk(opened, plan, show_verdicts=show_verdicts)
        rules = _rubric_text(desk.review.calibration_set.rubric)
        serve_desk(desk, named, rules=rules, host=host, port=port, open_browser=open_browser)
        typer.echo(visible(f"stopped: {progress_text(desk)}; the labels are in {labels}"))


def plan_review(
    name: str,
    store: StorePlace,
    graders: list[str] | None,
    *,
    as_set: bool,
    most: int | None,
    random_share: float | None,
    seed: int,
    double: float,
    unlabelled: bool,
    limit: int | None,
) -> ReviewPlan:
    """The review of a run's queue, or of a set where there is no such run.

    Raises
    ------
    ReviewError
        Neither a run nor a set, no item to label, a number out of its range, an option that is only of the other.
    """
    share = _RANDOM_SHARE if random_share is None else random_share
    n_most = _MOST if most is None else most
    plan = None if as_set else _plan_run(name, store, graders, most=n_most, share=share, seed=seed, double=double)
    if plan is not None:
        given = {"--unlabelled": unlabelled, "--limit": limit is not None}
        _refuse_options(given, f"{name!r} is a run", "--set if the set of that name is meant")
        return plan
    plan = _plan_set(name, store, as_set=as_set, double=double, seed=seed, unlabelled=unlabelled, limit=limit)
    given = {"--most": most is not None, "--random-share": random_share is not None, "--grader": bool(graders)}
    _refuse_options(given, f"{name!r} is a set", "a run's name or whole id")
    return plan


def _refuse_options(given: Mapping[str, bool], got: str, expected: str) -> None:
    """An option that would be passed over in silence is a misunderstanding of what the name is."""
    names = [option for option, is_given in given.items() if is_given]
    if names:
        raise ReviewError(f"{', '.join(names)}: {got}; expected {expected}, or no {' or '.join(names)}")


def _plan_run(
    name: str, store: StorePlace, graders: list[str] | None, *, most: int, share: float, seed: int, double: float
) -> ReviewPlan | None:
    """The queue of a run, ``None`` where there is no run of that name."""
    if not store.is_made():
        return None
    with RunStore(store, must_exist=True) as opened:
        if not _names_run(opened, name):
            return None
        data, _ = load_run_data(opened, name)
    graded = read_graded_samples(data)
    chosen = [find_graded(graded, one) for one in graders] if graders else list(graded)
    queue = draw_queue(chosen, most=most, random_share=share, seed=seed)
    return plan_run_review(queue, data.calibration_set, name=data.experiment, double_share=double)


def _names_run(store: RunStore, name: str) -> bool:
    """Whether a name is a run's. The beginning of one is not, where a set has all of the name."""
    ids = list(store.run_times())
    if name in ids or any(run_id.rpartition("-")[0] == name for run_id in ids):
        return True
    is_set = name in list_shipped_sets() or Path(name).is_dir()
    return not is_set and any(run_id.startswith(name) for run_id in ids)


def _plan_set(
    name: str, store: StorePlace, *, as_set: bool, double: float, seed: int, unlabelled: bool, limit: int | None
) -> ReviewPlan:
    try:
        found = load_set(name)
    except SetNotFoundError as error:
        if as_set:
            raise
        raise ReviewError(f"review: {name!r} is neither a run in {store} nor a set; expected one of both") from error
    return plan_set_review(found, double_share=double, seed=seed, unlabelled=unlabelled, limit=limit)


def serve_desk(desk: Desk, rater: str | None, *, rules: str, host: str, port: int, open_browser: bool) -> None:
    """Print the address and serve until Ctrl-C. The packages are imported here, as nothing else needs them.

    Parameters
    ----------
    rater
        Who labels; without, a page asks.
    rules
        What raters can read beside the keys.

    Raises
    ------
    MissingDependencyError
        If the packages of the pages are not installed.
    ReviewError
        If host or port cannot be listened on.
    """
    try:
        from experiments.review.app import build_app
        from experiments.review.serving import bind_address, serve
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"review: {error}; expected the packages of the labelling pages: "
            "pip install 'autorater-calibration[review]' (in a checkout: pip install -e \".[review]\")"
        ) from error
    address = bind_address(host, port)
    app = build_app(desk, address.rules, rater=rater, rubric_text=rules)
    typer.echo(visible(f"review {desk.review.review_id}: {progress_text(desk)}"))
    typer.echo(f"{address.url}   (Ctrl-C ends it)")
    if address.is_open:
        typer.echo("note: who has this address can label; the connection is not encrypted", err=True)
    serve(app, address, open_browser=open_browser)


def progress_text(desk: Desk) -> str:
    """How far a review is, in one line."""
    progress = measure_progress(desk.read())
    adjudicated = f", {progress.n_adjudicated:,} items adjudicated" if progress.n_adjudicated else ""
    return (
        f"{progress.n_items:,} items, {progress.n_given:,} of {progress.n_wanted:,} labels given, "
        f"{progress.n_open_disagreements:,} disagreements to decide{adjudicated}"
    )


def _rubric_text(rubric: str) -> str:
    """The prompt of the rubric's name, if the library has one: the rules as graders get them."""
    try:
        return load_prompt(rubric).text
    except PromptError:
        return ""
