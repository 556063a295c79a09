"""``autorater probe``: a grader on items whose labels hold by construction, before people label anything."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from calibration_sets.loader import load_set
from calibration_sets.strict_models import parse_model
from experiments.analyses.probes.probing import probe_run
from experiments.analyses.probes.probing_page import probing_document, probing_fields
from experiments.commands.options import DEFAULT_STORE, StoreOption, check_asking, check_level
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.errors import SpecError
from experiments.reports.escaping import visible
from experiments.reports.report_file import check_report_file
from experiments.running.asking import ask_models, warn_of_network
from experiments.running.plan import build_plan
from experiments.running.plan_listing import describe_plan
from experiments.specs.experiment import Experiment
from experiments.specs.experiment_file import ExperimentSpec
from experiments.specs.grader_building import build_graders
from experiments.specs.selection import Selection, select_items
from experiments.store.planned_store import open_planned
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace
from graders.errors import PromptError
from graders.grader import Grader
from graders.prompt_mutations import MUTATIONS, mutate_prompt
from graders.providers import takes_prompt
from graders.support import require_support

__all__ = ["probe"]

_WHERE, _SET = Path("autorater probe"), "probes"
_NO_MUTATION = "none"


class Unsupported(StrEnum):
    """What to do about a setting that a model does not take."""

    stop = "stop"
    provider_default = "provider-default"


def probe(
    model: Annotated[str | None, typer.Option("--model", help="Model to probe, such as openai/NAME.")] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", help="Grader prompt: NAME@VERSION or a .md file.")] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Print a run's page again from the store, unpaid.")
    ] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", help="Verdicts an item; default: 1.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", help="Only so many items, evenly over the kinds; default: all.")
    ] = None,
    mutations: Annotated[
        list[str] | None,
        typer.Option("--mutation", help=f"{', '.join(MUTATIONS)} or none; may be repeated. Default: all that fit."),
    ] = None,
    exclude_kinds: Annotated[
        list[str] | None, typer.Option("--exclude-kind", help="Leave a kind of probe out; may be repeated.")
    ] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="Address of the service.")] = None,
    key_variable: Annotated[
        str | None, typer.Option("--key-variable", help="Environment variable that holds the service's key.")
    ] = None,
    temperature: Annotated[float | None, typer.Option("--temperature", help="Default: 2.0, as in a run.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the draws and of the sample; default: 0.")] = None,
    on_unsupported: Annotated[
        Unsupported | None,
        typer.Option("--on-unsupported", help="What to do where the model takes no such setting; default: stop."),
    ] = None,
    floor: Annotated[float, typer.Option("--floor", help="Pass rate that every kind is held to.")] = 0.9,
    show: Annotated[int, typer.Option("--show", min=0, help="So many of the most often failed probes.")] = 10,
    level: Annotated[
        float | None, typer.Option("--level", help="Confidence level; default: the run's, as a rule 0.95.")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="Dollars that the probes may cost in all; it stops before."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan, with what it will cost, and stop.")
    ] = False,
    batch: Annotated[
        bool, typer.Option("--batch", help="Hand the calls in as batch jobs: cheaper, within a day.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="With --batch: wait until every job is done.")] = False,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Run the by-construction probes and mutations of the prompt against a grader: where is it weak?

    The probes are items whose labels follow from how they were made: instructions inside the
    answer, closed quotations, answers without content, bounds of ranges, declining in many ways.
    The prompt's worked examples are put in another order and its letters permuted, which should
    change no verdict. What is answered is stored: the same command continues, and pays nothing twice.
    For settings beyond these, run an experiment over the set probes and give its run.

    \b
    Examples:
      autorater probe --model baseline/lexical
      autorater probe --model openai/gpt-4.1-mini --prompt simpleqa_verified@1.0.0 --dry-run
      autorater probe --model openai-compatible/mine --base-url http://localhost:8000/v1 \\
        --prompt drafts/mine.md --sample 100 --repeats 3
      autorater probe --model openai/gpt-5-mini --prompt simpleqa_verified@1.0.0 --batch \\
        --on-unsupported provider-default
      autorater probe --run probe --floor 0.95 --level 0.9
    """
    if not 0 < floor <= 1:
        raise SpecError(f"--floor: {floor:g}; expected a share above 0, and 1 or less")
    check_level(level)
    check_asking(max_cost, batch=batch, wait=wait)
    if out is not None:
        check_report_file(out)
    settings = {
        "--model": model, "--prompt": prompt, "--repeats": repeats, "--sample": sample, "--mutation": mutations,
        "--exclude-kind": exclude_kinds, "--base-url": base_url, "--key-variable": key_variable,
        "--temperature": temperature, "--seed": seed, "--max-cost": max_cost, "--dry-run": dry_run or None,
        "--on-unsupported": None if on_unsupported is None else on_unsupported.value, "--batch": batch or None,
    }  # fmt: skip
    if run is not None:
        _check_alone(settings)
        with RunStore(store, must_exist=True) as opened:
            _write_page(opened, run, floor, level, show, output_format, out)
        return
    asked, left_out = _build_experiment(settings)
    require_support(asked.graders)
    for note in left_out:
        typer.echo(visible(f"note: left out, {note}"), err=True)
    if dry_run:
        _print_plan(asked, store, batch=batch)
        return
    warn_of_network(store.path)
    with RunStore(store) as opened:
        typer.echo(describe_plan(asked, build_plan(asked, opened), opened, batch=batch), err=True)
        ask_models(asked, opened, max_cost, batch=batch, wait=wait)
        _write_page(opened, asked.run_id, floor, level, show, output_format, out)


def _check_alone(settings: dict[str, Any]) -> None:
    given = [name for name, value in settings.items() if value is not None and value != []]
    if given:
        raise SpecError(f"--run: given with {', '.join(given)}; expected it without, as a stored run has its settings")


def _build_experiment(settings: dict[str, Any]) -> tuple[Experiment, list[str]]:
    """The experiment, and why mutations that nobody named are left out of it."""
    if settings["--model"] is None:
        raise SpecError("--model: none; expected a model to probe, or --run with a run that is stored")
    spec = parse_model(ExperimentSpec, _spec_fields(settings), _WHERE.name, SpecError)
    whole = load_set(_SET)
    plain = build_graders(spec, whole, _WHERE)[0]
    mutated, left_out = _mutate(plain, settings["--mutation"])
    sample, seed = spec.items.sample, spec.items.seed
    selection = Selection(sample, "kind", seed, tuple(spec.items.exclude_kinds))
    experiment = Experiment(
        name=spec.name,
        description=spec.description,
        calibration_set=select_items(whole, selection, where=_WHERE.name),
        n_items_in_set=len(whole.items),
        set_digest=whole.digest,
        graders=(plain, *mutated),
    )
    return experiment, left_out


def _spec_fields(settings: dict[str, Any]) -> dict[str, Any]:
    grader = {"model": settings["--model"], "prompt": settings["--prompt"], "base_url": settings["--base-url"]}
    grader["key_variable"] = settings["--key-variable"]
    grader["on_unsupported"] = settings["--on-unsupported"]
    sampling = {"temperature": settings["--temperature"], "seed": settings["--seed"]}
    repeats = 1 if settings["--repeats"] is None else settings["--repeats"]
    return {
        "name": "probe",
        "set": _SET,
        "description": "By-construction probes, and mutations of the prompt.",
        "graders": [{name: value for name, value in grader.items() if value is not None}],
        "sampling": {**{name: value for name, value in sampling.items() if value is not None}, "repeats": repeats},
        "items": {
            "sample": settings["--sample"],
            "seed": settings["--seed"] or 0,
            "exclude_kinds": settings["--exclude-kind"] or [],
        },
    }


def _mutate(plain: Grader, named: list[str] | None) -> tuple[list[Grader], list[str]]:
    """The grader with each mutation of its prompt; one that is named has to fit, others are left out, and told."""
    if named == [_NO_MUTATION]:
        return [], []
    if plain.prompt is None or not takes_prompt(plain.model):
        if named:
            raise SpecError(f"--mutation: {plain.model} reads no prompt; expected a model that does, or none")
        return [], []
    graders, left_out = [], []
    for mutation in dict.fromkeys(named or MUTATIONS):
        try:
            graders.append(replace(plain, prompt=mutate_prompt(plain.prompt, mutation)))
        except PromptError as error:
            if named:
                raise SpecError(f"--mutation: {error}") from error
            left_out.append(str(error))
    return graders, left_out


def _print_plan(asked: Experiment, store: StorePlace, *, batch: bool) -> None:
    """A dry run leaves no file behind."""
    with open_planned(store) as opened:
        typer.echo(describe_plan(asked, build_plan(asked, opened), opened, batch=batch))


def _write_page(
    store: RunStore,
    run: str,
    floor: float,
    level: float | None,
    show: int,
    output_format: PageFormat,
    out: Path | None,
) -> None:
    data, analyses = load_run_data(store, run)
    probing = probe_run(data, floor=floor, level=level or analyses.level)
    write_page(probing_document(probing, most=show), probing_fields(probing, most=show), output_format, out)
