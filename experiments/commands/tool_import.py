"""`autorater import inspect`, `promptfoo`, `openai-batch`, `simple-evals`, `lm-eval`: what other tools recorded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.loader import load_set
from calibration_sets.scale import SCALES, SIMPLEQA
from experiments.commands.options import DEFAULT_STORE, Format, FormatOption, OutOption, StoreOption
from experiments.commands.report_output import write_report
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.inspect_log import InspectReader
from experiments.importers.labelling import INSPECT_LABELLINGS, PASS_OR_FAIL, Labelling, extend_scale, read_labelling
from experiments.importers.lm_eval import LmEvalReader
from experiments.importers.openai_batch import OpenAIBatchReader
from experiments.importers.promptfoo import PromptfooReader
from experiments.importers.simple_evals import SimpleEvalsReader
from experiments.importers.tool_import import NO_RUBRIC, ToolImport, import_runs, import_set
from experiments.reports.escaping import visible
from experiments.reports.report_file import check_report_file
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace

__all__ = ["add_tool_commands"]

FilesArgument = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of the tool.", show_default=False)]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option("--labels", help="What the tool's verdicts mean: a name, or TEXT=LABEL, which may be repeated."),
]
ScaleOption = Annotated[
    str | None, typer.Option("--scale", help="Scale of TEXT=LABEL entries; default: binary.", show_default=False)
]
RepeatsOption = Annotated[
    int | None,
    typer.Option("--repeats", help="Replies of a grader to each item; default: as many as every item has."),
]
NameOption = Annotated[str | None, typer.Option("--name", help="Name of the run; default: the tool's.")]
RubricOption = Annotated[str, typer.Option("--rubric", help="Rules that people will label by, as name@version.")]
LicenceOption = Annotated[str, typer.Option("--licence", help="Licence of the data.")]
SetOption = Annotated[
    str | None,
    typer.Option("--set", help="A set of the same responses, with labels of people: its items are matched by content."),
]
ToOption = Annotated[
    Path | None, typer.Option("--to", help="Make a set of the responses in this new folder, instead of a run.")
]
SetScaleOption = Annotated[str, typer.Option("--scale", help=f"Scale of the set: {', '.join(SCALES)}.")]
SetFolderOption = Annotated[Path, typer.Option("--to", help="Folder for the new set; must not hold other files.")]


def add_tool_commands(app: typer.Typer) -> None:
    """Put the commands into the group ``import``."""
    app.command("inspect")(import_inspect)
    app.command("promptfoo")(import_promptfoo)
    app.command("openai-batch")(import_openai_batch)
    app.command("simple-evals")(import_simple_evals)
    app.command("lm-eval")(import_lm_eval)


def import_inspect(
    files: FilesArgument,
    labels: LabelsOption = None,
    scale: ScaleOption = None,
    scorers: Annotated[
        list[str] | None, typer.Option("--scorer", help="A scorer to take; may be repeated; default: all with a model.")
    ] = None,
    set_name: SetOption = None,
    repeats: RepeatsOption = None,
    name: NameOption = None,
    rubric: RubricOption = NO_RUBRIC,
    licence: LicenceOption = "unstated",
    to: ToOption = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: FormatOption = Format.text,
    out: OutOption = None,
) -> None:
    """Take the graders' replies of Inspect logs into a run, and print its report (extra: inspect).

    Samples are items, epochs with another response are further items of the same question, epochs with the same
    response are repeats. Replies are read again by our parser; the account counts where Inspect's own verdict is
    another. --labels binary (the default) reads C and I, and takes a P for a failure (off_scale); partial gives P
    a label of its own; partial-is-wrong and partial-is-right say what it counts as. No log has labels of people.

    \b
    Examples:
      autorater import inspect logs/2026-11-30_capitals.eval
      autorater import inspect logs/*.eval --name capitals --labels partial-is-wrong --scorer model_graded_qa
      autorater import inspect logs/*.eval --to capitals      a set of the responses, to grade anew
    """
    labelling, found = _labelled(read_labelling(labels or [], scale, INSPECT_LABELLINGS), set_name)
    reader = InspectReader(labelling, tuple(scorers or ()))
    wanted = ToolImport("inspect", files, reader, labelling, name or "inspect", rubric, licence, repeats, found)
    _import(wanted, to, store, output_format, out, _account("sample", found))


def import_promptfoo(
    files: FilesArgument,
    labels: LabelsOption = None,
    scale: ScaleOption = None,
    question: Annotated[
        str | None, typer.Option("--question", help="Variable that is the question; default: the whole prompt.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", help="Variable that is the reference; default: the assertion's value.")
    ] = None,
    set_name: SetOption = None,
    repeats: RepeatsOption = None,
    name: NameOption = None,
    rubric: RubricOption = NO_RUBRIC,
    licence: LicenceOption = "unstated",
    to: ToOption = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: FormatOption = Format.text,
    out: OutOption = None,
) -> None:
    """Take the verdicts of model-graded assertions of promptfoo into runs, one a kind of assertion.

    promptfoo keeps a verdict with its reason, and no reply: pass and fail are taken as they stand, as CORRECT and
    INCORRECT unless --labels says otherwise. Where its grader failed, it writes a failed assertion; here that is a
    failure with its reason, and no verdict. Other assertions are counted in the account and not taken.

    \b
    Examples:
      autorater import promptfoo results.json --question question --reference answer
      autorater import promptfoo results.jsonl --labels pass=CORRECT --labels fail=INCORRECT --name support
    """
    labelling, found = _labelled(read_labelling(labels or [], scale, PASS_OR_FAIL), set_name)
    reader = PromptfooReader(labelling, question, reference)
    wanted = ToolImport("promptfoo", files, reader, labelling, name or "promptfoo", rubric, licence, repeats, found)
    _import(wanted, to, store, output_format, out, _account("result", found))


def import_openai_batch(
    files: FilesArgument,
    inputs: Annotated[list[Path], typer.Option("--input", help="The batch's input file; may be repeated.")],
    set_name: Annotated[str, typer.Option("--set", help="The set that the calls are about: a name or a folder.")],
    pattern: Annotated[
        str | None,
        typer.Option("--id", help="Regular expression of custom_id with a group item (and grader); default: the id."),
    ] = None,
    labels: Annotated[
        list[str] | None, typer.Option("--labels", help="TEXT=LABEL for words that the grader uses; may be repeated.")
    ] = None,
    repeats: RepeatsOption = None,
    name: NameOption = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: FormatOption = Format.text,
    out: OutOption = None,
) -> None:
    """Take the replies of OpenAI batch files into a run over a set, and print its report.

    FILE... are output and error files. Lines are matched to the calls of the input by custom_id, and to the set's
    items by the same; a call whose prompt does not hold its item's response is left out. Choices beyond the first
    (n) are repeats. Error lines, and calls without a line, count as not answered.

    \b
    Examples:
      autorater import openai-batch output.jsonl errors.jsonl --input input.jsonl --set ./capitals
      autorater import openai-batch output.jsonl --input input.jsonl --set ./capitals \\
        --id "(?P<grader>[a-z]+)-(?P<item>.+)-[0-9]+" --labels yes=CORRECT --labels no=INCORRECT
    """
    found = load_set(set_name)
    meanings = read_labelling(labels, found.scale.name, {}).meanings if labels else {}
    labelling = Labelling(extend_scale(found.scale, meanings), meanings)
    reader = OpenAIBatchReader(inputs, found, _compile(pattern))
    run_name = name or f"{found.name}-batch"
    wanted = ToolImport(
        "openai-batch", files, reader, labelling, run_name, repeats=repeats, calibration_set=found, asked_by=inputs
    )
    _import(wanted, None, store, output_format, out, _account("line", found))


def import_simple_evals(
    files: FilesArgument,
    to: SetFolderOption,
    respondent: Annotated[str, typer.Option("--respondent", help="The model that answered; no report tells it.")],
    scale: SetScaleOption = SIMPLEQA.name,
    rubric: RubricOption = NO_RUBRIC,
    licence: LicenceOption = "unstated",
) -> None:
    """Make a set of the responses in simple-evals reports: .html pages, or _allresults.json.

    A report has no grader's reply. Its scores stay in the items' metadata; they become no verdict and no label.

    \b
    Example:
      autorater import simple-evals simpleqa_gpt-4o.html --respondent gpt-4o --to gpt_4o
    """
    reader = SimpleEvalsReader(respondent)
    wanted = ToolImport("simple-evals", files, reader, _plain(scale), "simple-evals", rubric, licence)
    _make_set(wanted, to, ImportAccount("example"))


def import_lm_eval(
    files: FilesArgument,
    to: SetFolderOption,
    question: Annotated[
        str | None, typer.Option("--question", help="Field of the document that is the question; default: its usual.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", help="Field that is the reference; default: the log's target.")
    ] = None,
    respondent: Annotated[
        str | None, typer.Option("--respondent", help="The model that answered; default: the log's folder.")
    ] = None,
    scale: SetScaleOption = SIMPLEQA.name,
    rubric: RubricOption = NO_RUBRIC,
    licence: LicenceOption = "unstated",
) -> None:
    """Make a set of the responses in lm-eval sample logs (samples_*.jsonl, written with --log_samples).

    Such a log has no grader's reply. Its metrics stay in the items' metadata; they become no verdict and no label.

    \b
    Example:
      autorater import lm-eval out/my-model/samples_triviaqa_2026-11-30T10-00-00.jsonl --to trivia
    """
    reader = LmEvalReader(question, reference, respondent)
    wanted = ToolImport("lm-eval", files, reader, _plain(scale), "lm-eval", rubric, licence)
    _make_set(wanted, to, ImportAccount("line"))


def _plain(scale: str) -> Labelling:
    """A scale as it is: nothing is read by it."""
    if scale not in SCALES:
        raise ImportFileError(f"--scale: {scale!r}; expected one of {', '.join(SCALES)}")
    return Labelling(SCALES[scale], {})


def _labelled(labelling: Labelling, set_name: str | None) -> tuple[Labelling, CalibrationSet | None]:
    if set_name is None:
        return labelling, None
    found = load_set(set_name)
    return labelling.on_set(found.scale), found


def _account(record: str, found: CalibrationSet | None) -> ImportAccount:
    if found is None:
        return ImportAccount(record)
    return ImportAccount(record, labels=f"{len(found.human_labels)} labels of people, of set {found.name}")


def _compile(pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ImportFileError(f"--id: {pattern!r}, {error}; expected a regular expression with a group item") from error
    if "item" not in compiled.groupindex:
        raise ImportFileError(f"--id: {pattern!r}; expected a group (?P<item>...) for the item's id")
    return compiled


def _import(
    wanted: ToolImport,
    to: Path | None,
    store: StorePlace,
    output_format: Format,
    out: Path | None,
    account: ImportAccount,
) -> None:
    if to is not None:
        if wanted.calibration_set is not None:
            raise ImportFileError("--to and --set: both given; expected one, as --to makes a set without labels")
        _make_set(wanted, to, account)
        return
    if out is not None:
        check_report_file(out)
    with RunStore(store) as opened:
        run_ids = import_runs(wanted, opened, account)
        _print_account(account)
        for run_id in run_ids:
            typer.echo(f"run {run_id}", err=True)
        if len(run_ids) == 1:
            write_report(opened, run_ids[0], None, output_format, out)
    if len(run_ids) > 1:
        typer.echo("several runs: autorater report RUN prints the report of one", err=True)


def _make_set(wanted: ToolImport, to: Path, account: ImportAccount) -> None:
    found = import_set(wanted, to, account)
    _print_account(account)
    typer.echo(f"wrote {found.name} {found.version} to {to}: {len(found.items)} items, not labelled")


def _print_account(account: ImportAccount) -> None:
    for line in account.lines():
        typer.echo(visible(line), err=True)
