"""``autorater curate``: from a raw question set to a verified subset, in stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.curation.curation_run import (
    StageDone,
    find_questions_before,
    read_records,
    remove_others,
    run_stages,
)
from calibration_sets.curation.embedders import latent_semantic_embedder, read_embeddings
from calibration_sets.curation.question_file import load_questions
from calibration_sets.curation.reference_responses import ReferenceResponses, read_responses
from calibration_sets.curation.robots_files import fetch_robots, fetch_text, has_no_rules, read_robots
from calibration_sets.curation.settings import STAGES, StageName, default_settings_text, read_settings
from calibration_sets.curation.source_answers import SourceAnswers, read_source_answers
from calibration_sets.curation.source_urls import host_of, source_urls
from calibration_sets.curation.stage_folder import KEPT, StageRecord
from calibration_sets.curation.stage_table import render_stages
from calibration_sets.curation.steps import Evidence
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question

__all__ = ["curate_app"]

curate_app = typer.Typer(
    no_args_is_help=True,
    help="""From a raw question set to a verified subset, in stages that can be run one by one.

\b
Examples:
  autorater curate run simple_qa_test_set.csv --to curated
  autorater curate show curated
  autorater curate stage balance --to curated
""",
)

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="SimpleQA's or SimpleQA Verified's CSV, or questions as JSON lines.")
]
ToOption = Annotated[Path, typer.Option("--to", help="Folder of the curation; one folder a stage is made in it.")]
SettingsOption = Annotated[Path | None, typer.Option("--settings", help="TOML; 'curate settings' prints one.")]
ResponsesOption = Annotated[
    Path | None,
    typer.Option("--responses", help="Graded responses of reference models: question_id, model, label."),
]
EmbeddingsOption = Annotated[
    Path | None,
    typer.Option("--embeddings", help="Vectors of any model: JSON lines with text and vector. Default: built in."),
]
RobotsOption = Annotated[
    Path | None, typer.Option("--robots", help="Folder of robots.txt files named <host>.txt; 'curate robots' fills it.")
]
SourcesOption = Annotated[
    Path | None, typer.Option("--source-answers", help="What sources answer: question_id, url, answer.")
]


@curate_app.command()
def run(
    file: FileArgument,
    to: ToOption,
    settings: SettingsOption = None,
    responses: ResponsesOption = None,
    embeddings: EmbeddingsOption = None,
    robots: RobotsOption = None,
    source_answers: SourcesOption = None,
    until: Annotated[str | None, typer.Option("--until", metavar="STAGE", help="The last stage to do.")] = None,
) -> None:
    """Do all stages of the settings in order; what nothing has changed for is not done again.

    Files for people to fill in are written to the folder's reviews/; run again when they are filled in. No stage
    goes online and none asks a model.

    \b
    Examples:
      autorater curate run simple_qa_test_set.csv --to curated
      autorater curate run simple_qa_test_set.csv --to curated --responses graded.csv --robots robots --until balance
    """
    questions = load_questions(file)
    evidence = _gather(
        questions,
        to,
        settings=settings,
        responses=responses,
        embeddings=embeddings,
        robots=robots,
        source_answers=source_answers,
    )
    names = tuple(evidence.settings.stages)
    if until is not None:
        last = STAGES.index(_stage(until, "--until"))
        names = tuple(name for name in names if STAGES.index(name) <= last)
        if not names:
            raise SetFileError(f"--until: {until!r}; expected a stage from {evidence.settings.stages[0]} on")
    remove_others(to, evidence.settings.stages)
    done = run_stages(questions, to, evidence, names, tell=_tell)
    _print_table([stage.record for stage in done], to)


@curate_app.command()
def stage(
    name: Annotated[str, typer.Argument(metavar="STAGE", help=f"One of {', '.join(STAGES)}.")],
    to: ToOption,
    file: Annotated[
        Path | None, typer.Option("--from", help="Questions to begin with. Default: what the stage before it left.")
    ] = None,
    settings: SettingsOption = None,
    responses: ResponsesOption = None,
    embeddings: EmbeddingsOption = None,
    robots: RobotsOption = None,
    source_answers: SourcesOption = None,
) -> None:
    """Do one stage alone, on a file or on what the stage before it left in the folder.

    \b
    Examples:
      autorater curate stage publishers --to curated --robots robots
      autorater curate stage ranges --from my_questions.jsonl --to ranged
    """
    wanted = _stage(name, "STAGE")
    questions = load_questions(file) if file else find_questions_before(wanted, to)
    if questions is None:
        raise SetFileError(f"{to}: no stage before {wanted} is there; expected one, or questions with --from")
    evidence = _gather(
        questions,
        to,
        settings=settings,
        responses=responses,
        embeddings=embeddings,
        robots=robots,
        source_answers=source_answers,
    )
    done = run_stages(questions, to, evidence, (wanted,), tell=_tell)
    _print_table([stage.record for stage in done], to)


@curate_app.command()
def show(folder: Annotated[Path, typer.Argument(help="Folder of a curation.")]) -> None:
    """Print the stage table again: questions left, share removed, F1 of the reference models, what is undecided.

    \b
    Example:
      autorater curate show curated
    """
    _print_table(read_records(folder), folder)


@curate_app.command("settings")
def settings_command() -> None:
    """Print the default settings as a file to begin with.

    \b
    Example:
      autorater curate settings > curation.toml
    """
    typer.echo(default_settings_text(), nl=False)


@curate_app.command("robots")
def robots_command(
    file: FileArgument,
    to: Annotated[Path, typer.Option("--to", help="Folder for the robots.txt files.")],
) -> None:
    """Fetch the robots.txt of every source's host, once; what did not answer is asked again next time.

    \b
    Example:
      autorater curate robots curated/3_lexical_duplicates/kept.jsonl --to robots
    """
    hosts = {host_of(url) for question in load_questions(file) for url in source_urls(question)}
    answers = fetch_robots(hosts, to, fetch_text)
    n_rules = sum(answers.get(host) == 200 for host in hosts)
    n_none = sum(has_no_rules(answers.get(host)) for host in hosts)
    typer.echo(f"{len(hosts)} hosts: {n_rules} with rules, {n_none} without, {len(hosts) - n_rules - n_none} unknown")


def _stage(name: str, where: str) -> StageName:
    if name not in STAGES:
        raise SetFileError(f"{where}: {name!r}; expected one of {', '.join(STAGES)}")
    return name


def _gather(
    questions: tuple[Question, ...],
    to: Path,
    *,
    settings: Path | None,
    responses: Path | None,
    embeddings: Path | None,
    robots: Path | None,
    source_answers: Path | None,
) -> Evidence:
    chosen = read_settings(settings)
    built_in = latent_semantic_embedder(chosen.semantic_duplicates.dimensions)
    return Evidence(
        settings=chosen,
        reviews=to / "reviews",
        embedder=read_embeddings(embeddings) if embeddings else built_in,
        responses=read_responses(responses, questions) if responses else ReferenceResponses(),
        robots=read_robots(robots),
        sources=read_source_answers(source_answers) if source_answers else SourceAnswers(),
    )


def _tell(done: StageDone) -> None:
    record = done.record
    typer.echo(f"{record.number} {record.stage}: {'done' if done.was_done else 'unchanged, not done again'}", err=True)


def _print_table(records: Sequence[StageRecord], to: Path) -> None:
    for line in render_stages(records):
        typer.echo(line)
    last = records[-1]
    typer.echo(f"questions: {to / f'{last.number}_{last.stage}' / KEPT}")
