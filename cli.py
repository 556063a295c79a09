"""The ``autorater`` command: puts the rooms' commands together and turns errors into one line."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

import calibration_sets.commands
import calibration_sets.curation.commands
import experiments.commands.ab
import experiments.commands.answers
import experiments.commands.audit
import experiments.commands.choose
import experiments.commands.curate_embed
import experiments.commands.curate_sources
import experiments.commands.curate_traits
import experiments.commands.drift
import experiments.commands.export
import experiments.commands.gate
import experiments.commands.labels
import experiments.commands.mlflow
import experiments.commands.plan
import experiments.commands.probe
import experiments.commands.queue
import experiments.commands.regimes
import experiments.commands.report
import experiments.commands.review
import experiments.commands.run
import experiments.commands.runs
import experiments.commands.score
import experiments.commands.store
import experiments.commands.verdict_import
import experiments.commands.worker
import graders.commands
import graders.models_commands
from calibration_sets.errors import CalibrationSetError
from experiments.errors import ExperimentError
from graders.errors import GraderError, UnsupportedError

__all__ = ["app", "main"]

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
"""What the command-line library makes of Ctrl-C, as shells do."""

# The base of what the command-line library raises, whichever copy of click typer brings.
_COMMAND_LINE_ERROR = next(
    kind for kind in typer.BadParameter.__mro__ if issubclass(kind, Exception) and kind.__name__ == "ClickException"
)

app = typer.Typer(
    name="autorater",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="""Measure how far an LLM grader can be trusted.

\b
Examples:
  autorater run quickstart               grade a shipped set with a small local model, and report
  autorater run my_experiment.toml       the same for an experiment of your own
  autorater report quickstart            print the report again, from the store, without any call
  autorater choose quickstart            which of the graders of a run to trust
  autorater score benchmark --calibration quickstart    how wide the error bars of a score are
  autorater sets list                    calibration sets that ship with the program
  autorater graders show simpleqa        the newest version of a grader prompt
""",
)
for command in (
    experiments.commands.run.run,
    experiments.commands.worker.worker,
    experiments.commands.report.report,
    experiments.commands.export.export,
    experiments.commands.choose.choose,
    experiments.commands.ab.ab,
    experiments.commands.regimes.regimes,
    experiments.commands.score.score,
    experiments.commands.probe.probe,
    experiments.commands.gate.gate,
    experiments.commands.drift.drift,
    experiments.commands.mlflow.mlflow,
    experiments.commands.review.review,
):
    app.command()(command)
app.add_typer(experiments.commands.runs.runs_app, name="runs")
app.add_typer(experiments.commands.store.store_app, name="store")
app.add_typer(experiments.commands.verdict_import.import_app, name="import")
app.add_typer(experiments.commands.plan.plan_app, name="plan")
app.add_typer(experiments.commands.queue.queue_app, name="queue")
app.add_typer(experiments.commands.labels.labels_app, name="labels")
app.add_typer(calibration_sets.commands.app, name="sets")
calibration_sets.curation.commands.curate_app.command()(experiments.commands.curate_embed.embed)
calibration_sets.curation.commands.curate_app.command()(experiments.commands.curate_sources.sources)
calibration_sets.curation.commands.curate_app.command()(experiments.commands.curate_traits.traits)
app.add_typer(calibration_sets.curation.commands.curate_app, name="curate")
app.add_typer(experiments.commands.audit.audit_app, name="audit")
app.add_typer(graders.commands.graders_app, name="graders")
app.add_typer(experiments.commands.answers.answers_app, name="answers")
app.add_typer(graders.models_commands.models_app, name="models")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"autorater {version('autorater-calibration')}")
        raise typer.Exit


@app.callback()
def _autorater(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line: exit code 2 and one line for what a person must mend, 130 for Ctrl-C."""
    _escape_what_cannot_be_written()
    try:
        code = app(prog_name="autorater", standalone_mode=False)
    except UnsupportedError as error:
        _fail(*str(error).splitlines())
    except (CalibrationSetError, GraderError, ExperimentError) as error:
        _fail(str(error).partition("\n")[0])
    except _COMMAND_LINE_ERROR as error:
        _fail_usage(error)
    except OSError as error:
        _fail(f"{error.filename or 'output'}: {error.strerror}; expected a file or disk that can be used")
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:
        typer.echo("stopped; what a run had answered is stored, the same command continues", err=True)
    sys.exit(code)


def _escape_what_cannot_be_written() -> None:
    """A terminal that lacks a character shows its escape instead of stopping the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fail(*messages: str) -> NoReturn:
    for message in messages:
        typer.echo(f"error: {_one_line(message)}", err=True)
    sys.exit(EXIT_BAD_INPUT)


def _fail_usage(error: Exception) -> NoReturn:
    """What the parser of the command line says, in our form; a command group without a command shows its help."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "autorater"
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        typer.echo(context.get_help(), err=True)
        sys.exit(EXIT_BAD_INPUT)
    message = getattr(error, "format_message", error.__str__)().strip().rstrip(".").replace("Value error, ", "")
    _fail(f"{command}: {message}; expected what '{command} --help' shows")


def _one_line(message: str) -> str:
    """The message with line breaks and control characters spelt out: it may quote hostile input."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in message)


if __name__ == "__main__":
    main()
