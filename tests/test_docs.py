"""What the guide says: its examples are loaded by the program, and its tables name every key."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from pydantic import BaseModel
from typer.testing import CliRunner

import calibration_sets.fetch
import cli
import experiments.specs.experiment_file
from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.importers import mapped_table
from calibration_sets.loader import load_set
from calibration_sets.records import ItemRecord, LabelRecord, ScaleRecord, SetRecord
from calibration_sets.references.reference_lint import lint_reference
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SCALES, SIMPLEQA
from calibration_sets.validation import validate_set
from calibration_sets.writer import stamp_labels
from experiments.running import verdict_import
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders import prompt_file, prompt_library
from graders.official_texts import KNOWN_TEXTS
from graders.parsing import parse_verdict
from graders.prompt_lint import lint_prompt
from graders.providers import list_models, open_client
from graders.providers import replay as recordings
from graders.sampling import CHANNELS, Sampling
from graders.verdict import FAILURES

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "docs/sets.md",
    "docs/experiments.md",
    "docs/prompts.md",
    "docs/rubrics.md",
    "docs/services.md",
    "docs/models.md",
    "docs/store.md",
)
FIGURES = (
    "docs/guide.md",
    "docs/labels_and_gates.md",
    "docs/report.md",
    "docs/review.md",
    "docs/probes.md",
    "docs/statistics.md",
    "docs/decisions.md",
    "docs/regimes.md",
    "docs/importing.md",
    "docs/inspect.md",
    "docs/python.md",
    "docs/scale.md",
    "docs/parquet.md",
    "docs/workers.md",
)
GUIDE = ("README.md", "CONTRIBUTING.md", *PAGES, *FIGURES)
_FENCE = re.compile(r"^```(?P<about>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def read_page(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def read_blocks(page: str) -> dict[str, str]:
    """Fenced blocks by what stands behind their opening marks, such as ``toml set.toml``."""
    found = [(match["about"], match["body"]) for match in _FENCE.finditer(read_page(page))]
    named = [about for about, _ in found if about]
    assert len(named) == len(set(named)), f"{page}: two blocks of one name"
    return dict(found)


def is_said(name: str, text: str) -> bool:
    """Whether the text names a key: as code, alone or in brackets."""
    return re.search(rf"`\[{{0,2}}{re.escape(name)}\]{{0,2}}`", text) is not None


def section(text: str, start: str) -> str:
    """The rows of the table whose header row begins so."""
    rows = text[text.index(f"\n| {start}") + 1 :]
    return rows.partition("\n\n")[0]


@pytest.fixture
def capitals(tmp_path: Path) -> Path:
    """The set of the guide, stamped, in a folder of its name."""
    folder = tmp_path / "capitals"
    folder.mkdir()
    blocks = read_blocks("docs/sets.md")
    for about, body in blocks.items():
        _, _, file = about.partition(" ")
        if "." in file:
            (folder / file).write_text(body, encoding="utf-8")
    assert stamp_labels(folder) == 4
    return folder


@pytest.fixture
def study(capitals: Path) -> Path:
    """The experiment of the guide, with its recording, beside the set."""
    blocks = read_blocks("docs/experiments.md")
    for file in ("toml experiment.toml", "jsonl said.jsonl", "jsonl verdicts.jsonl"):
        (capitals.parent / file.split()[1]).write_text(blocks[file], encoding="utf-8")
    return capitals.parent / "experiment.toml"


def test_set_example_loads_without_findings(capitals: Path) -> None:
    loaded = load_set(capitals)
    assert (len(loaded.items), len(loaded.human_labels)) == (3, 4)
    assert validate_set(loaded) == []
    assert loaded.items[2].reference.ranges


def test_stamped_label_of_the_guide_is_what_stamping_writes(capitals: Path) -> None:
    first = (capitals / "human_labels.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert read_blocks("docs/sets.md")["jsonl stamped"].strip() == first


def test_scale_example_is_a_scale(capitals: Path) -> None:
    header = (capitals / "set.toml").read_text(encoding="utf-8").replace('scale = "simpleqa"\n', "")
    labels = (capitals / "human_labels.jsonl").read_text(encoding="utf-8")
    for old, new in (("INCORRECT", "bad"), ("NOT_ATTEMPTED", "fair"), ("CORRECT", "good")):
        labels = labels.replace(f'"{old}"', f'"{new}"')
    (capitals / "set.toml").write_text(header + read_blocks("docs/sets.md")["toml scale"], encoding="utf-8")
    (capitals / "human_labels.jsonl").write_text(labels, encoding="utf-8")
    loaded: CalibrationSet = load_set(capitals)
    assert (loaded.scale.level, loaded.scale.positive) == ("ordinal", "good")


def test_reference_examples_have_ranges() -> None:
    for line in read_blocks("docs/sets.md")["text references"].splitlines():
        reference = parse_reference(line)
        assert reference.ranges, line
        assert lint_reference(reference) == [], line
    assert lint_reference(parse_reference("1,094 km (acceptable range: within 2%)"))


@pytest.mark.parametrize(
    ("text", "aliases"),
    [
        ("Nairobi (or Nairobi City)", ("Nairobi", "Nairobi City")),
        ("Mumbai (formerly Bombay)", ("Mumbai", "Bombay")),
        ("Blue / Teal", ("Blue", "Teal")),
    ],
)
def test_alternatives_of_the_guide_are_read(text: str, aliases: tuple[str, ...]) -> None:
    assert f"`{text}`" in read_page("docs/sets.md").replace("\n", " ")
    assert set(aliases) <= set(parse_reference(text).aliases)


@pytest.mark.parametrize(
    ("table", "model"),
    [("`set.toml`", SetRecord), ("`items.jsonl`", ItemRecord), ("`human_labels.jsonl`", LabelRecord)],
)
def test_sets_page_names_every_key_in_its_table(table: str, model: type[BaseModel]) -> None:
    rows = section(read_page("docs/sets.md"), table)
    assert [key for key in model.model_fields if not is_said(key, rows)] == []


def test_sets_page_names_scales_import_fields_and_sources() -> None:
    text = read_page("docs/sets.md")
    sources = calibration_sets.fetch.list_sources()
    for name in (*ScaleRecord.model_fields, *mapped_table.FIELDS, *sources):
        assert is_said(name, text) or f"fetch {name}" in text, name
    assert all(f'`"{name}"`' in text and ", ".join(scale.labels) in text for name, scale in SCALES.items())


def test_experiment_example_runs_as_told(study: Path) -> None:
    experiment = load_experiment(str(study))
    assert re.fullmatch(r"two-graders-[0-9a-f]{8}", experiment.run_id)
    with RunStore(study.parent / "store.sqlite") as store:
        summary = run_experiment(experiment, store, open_client)
        data, analyses = load_run_data(store, "two-graders")
    # Of six draws the recording has three replies and one failed call; its two other repeats are not in it.
    assert (summary.n_stored, dict(summary.call_failures)) == (6, {"timeout": 1, "not_recorded": 2})
    labels = {(verdict.item_digest, verdict.repeat): verdict.label for verdict in data.graders[0].verdicts}
    first, second = (item.digest for item in experiment.calibration_set.items[:2])
    assert [labels[first, 0], labels[first, 1], labels[second, 0]] == ["CORRECT", "INCORRECT", "INCORRECT"]
    assert analyses.level == 0.9


def test_verdicts_example_is_imported(study: Path, capitals: Path) -> None:
    with RunStore(study.parent / "store.sqlite") as store:
        run = verdict_import.import_verdicts(study.parent / "verdicts.jsonl", str(capitals), store)
        data, _ = load_run_data(store, run)
    said = sorted((verdict.label or verdict.failure or "") for verdict in data.graders[0].verdicts)
    assert said == ["CORRECT", "CORRECT", "not_answered", "not_answered", "not_answered", "refused"]


SPEC_TABLES = {
    "ExperimentSpec": "key",
    "GraderSpec": "key",
    "ServiceSpec": "key",
    "SamplingSpec": "`[sampling]`",
    "ItemsSpec": "`[items]`",
    "AnalysesSpec": "`[analyses]`",
    "EngineSpec": "`[engine]`",
    "ChooseSpec": "`[choose]`",
    "AbSpec": "`[ab]`",
    "AnsweringSpec": "`[answering]`",
    "RegimesSpec": "`[regimes]`",
}
DECISIONS = ("ChooseSpec", "AbSpec", "AnsweringSpec")
"""Models of an experiment's file, and the header that their keys stand under."""


def test_guide_knows_every_table_of_an_experiment() -> None:
    classes = inspect.getmembers(experiments.specs.experiment_file, inspect.isclass)
    found = {name for name, _ in classes if name.endswith("Spec") and not name.startswith("_")}
    assert found == SPEC_TABLES.keys()


@pytest.mark.parametrize("name", SPEC_TABLES)
def test_experiments_page_names_every_key_in_its_table(name: str) -> None:
    page = "docs/decisions.md" if name in DECISIONS else "docs/experiments.md"
    page = {"RegimesSpec": "docs/regimes.md", "EngineSpec": "docs/scale.md"}.get(name, page)
    rows = section(read_page(page), SPEC_TABLES[name])
    model: type[BaseModel] = getattr(experiments.specs.experiment_file, name)
    keys = [entry.alias or key for key, entry in model.model_fields.items()]
    assert [key for key in keys if not is_said(key, rows)] == []


def test_experiments_page_gives_the_defaults_of_sampling() -> None:
    rows, default = section(read_page("docs/experiments.md"), "`[sampling]`"), Sampling()
    for key in ("temperature", "repeats", "seed", "max_tokens", "constrained"):
        row = next(line for line in rows.splitlines() if line.startswith(f"| `{key}` "))
        assert f"`{json.dumps(getattr(default, key))}`" in row, key


def test_experiments_page_names_models_recording_fields_and_failures() -> None:
    text = read_page("docs/experiments.md")
    lines = (recordings._CompletionLine, recordings._FailureLine, recordings._UsageField)
    keys = {key for line in lines for key in line.model_fields} | {"item"}
    told = {*keys, *verdict_import.FIELDS, *list_models(), *FAILURES} - {"not_answered"}
    assert [name for name in sorted(told) if not is_said(name, text)] == []


@pytest.mark.parametrize(
    ("text", "label", "failure"),
    [
        ("A", "CORRECT", None),
        ("**B**", "INCORRECT", None),
        ("Grade: CORRECT", "CORRECT", None),
        ('{"grade": "CORRECT"}', "CORRECT", None),
        ("hello", None, "unparsed"),
        ("D", None, "off_scale"),
        ("correct or incorrect", None, "ambiguous"),
    ],
)
def test_replies_of_the_guide_are_read_as_told(text: str, label: str | None, failure: str | None) -> None:
    assert f"`{text}`" in read_page("docs/experiments.md")
    verdict = parse_verdict(text, SIMPLEQA)
    assert (verdict.label, verdict.failure) == (label, failure)


@pytest.fixture
def terse(tmp_path: Path) -> Path:
    """The prompt of the guide, in a library of its own."""
    path = tmp_path / "library" / "terse" / "0.1.0.md"
    path.parent.mkdir(parents=True)
    path.write_text(read_blocks("docs/prompts.md")["text terse/0.1.0.md"], encoding="utf-8")
    return path


def test_prompt_example_loads_and_lints_clean(terse: Path) -> None:
    assert lint_prompt(terse) == []
    prompt = prompt_library.load_prompt("terse@0.1.0", folder=terse.parent.parent)
    assert (prompt.title.partition("#")[0], prompt.form, len(prompt.examples)) == ("terse@0.1.0", "chat", 3)
    assert prompt_library.load_prompt(prompt.title, folder=terse.parent.parent) == prompt


def test_delimiter_in_an_item_is_written_as_told(terse: Path, capitals: Path) -> None:
    item = load_set(capitals).items[0]
    changed = type(item)(item.item_id, item.question, item.reference, "x</response>y", item.cluster_id)
    prompt = prompt_library.read_prompt_file(terse)
    assert "<response>x&lt;/response>y</response>" in prompt.render(changed)
    assert "`&lt;/response>`" in read_page("docs/prompts.md")


def test_prompts_page_names_front_matter_channels_and_placeholders() -> None:
    text = read_page("docs/prompts.md")
    rows = section(text, "key")
    keys = {*prompt_file._FrontMatter.model_fields, *prompt_file._Example.model_fields, "examples"}
    assert [key for key in sorted(keys) if not is_said(key, rows)] == []
    assert [channel for channel in CHANNELS if not is_said(channel, section(text, "channel"))] == []
    assert all(f"`${name}`" in text for name in ("question", "reference", "response", "examples", "$"))


def test_official_versions_of_the_guide_are_known() -> None:
    text = read_page("docs/prompts.md")
    digests = re.findall(r"\+([0-9a-f]{8})`", text)
    assert len(digests) == 3
    assert {digest[:8] for digest in digests} <= {known.digest[:8] for known in KNOWN_TEXTS}
    for package, version in re.findall(r"pip download --no-deps ([\w-]+)==([\d.]+)", text):
        assert any(package in known.name and version in known.name for known in KNOWN_TEXTS), package


def test_environment_variables_of_the_code_are_in_the_guide() -> None:
    sources = [*ROOT.glob("*/*.py"), *ROOT.glob("graders/providers/*.py"), ROOT / "cli.py"]
    wanted = {
        name
        for source in sources
        if source.is_file() and source.parent.name != "tests"
        for name in re.findall(r"\"(AUTORATER_[A-Z_]+)\"", source.read_text(encoding="utf-8"))
    }
    assert wanted >= {"AUTORATER_STORE", "AUTORATER_CACHE", "AUTORATER_PROMPTS"}
    text = read_page("docs/experiments.md")
    assert [name for name in sorted(wanted | {"AUTORATER_CALIBRATION_DATA"}) if not is_said(name, text)] == []


@pytest.mark.parametrize("page", GUIDE)
def test_toml_and_jsonl_of_every_page_parse(page: str) -> None:
    for about, body in read_blocks(page).items():
        kind = about.partition(" ")[0]
        if kind == "toml":
            tomllib.loads(body)
        elif kind == "jsonl":
            assert all(isinstance(json.loads(line), dict) for line in body.splitlines())


def test_readme_experiment_loads(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(read_blocks("README.md")["toml"], encoding="utf-8")
    assert len(load_experiment(str(path)).graders) == 2


def told_commands() -> Iterator[tuple[str, str]]:
    """Every ``autorater ...`` line of the guide's indented blocks, continued lines joined."""
    for page in GUIDE:
        text = read_page(page).replace("\\\n", " ")
        for line in re.findall(r"^ {4}(?:.*&& )?(autorater .*)$", text, re.MULTILINE):
            yield page, line


@pytest.mark.parametrize(("page", "line"), list(told_commands()))
def test_commands_of_the_guide_exist(page: str, line: str) -> None:
    """The command and its options are there; nothing is run, help is asked for instead."""
    words = shlex.split(line.replace("$(", "").replace(")", ""), comments=True)[1:]
    names, command = [], typer.main.get_command(cli.app)
    while hasattr(command, "commands") and words and words[0] in command.commands:
        names.append(words.pop(0))
        command = command.commands[names[-1]]
    answer = CliRunner().invoke(cli.app, [*names, "--help"])
    assert answer.exit_code == 0
    assert not hasattr(command, "commands") or not names
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    assert [word for word in words if word.startswith("--") and word not in known] == [], f"{page}: {line}"


def test_pages_are_short_and_named_files_exist() -> None:
    for page in PAGES:
        text = read_page(page)
        assert len(text.splitlines()) < 140, page
        assert all((ROOT / file).is_file() for file in re.findall(r"`(docs/\w+\.md)`", text))
