"""Experiments: which graders judge which set, how often, and what is asked of the result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetNotFoundError
from calibration_sets.item import content_digest
from calibration_sets.loader import load_set
from calibration_sets.scale import LabelScale
from calibration_sets.strict import parse_model, read_toml, shorten
from experiments.errors import SpecError
from experiments.official_rule import answers_by_letter
from experiments.selection import Selection, select_items
from experiments.set_snapshot import identify_set
from graders.errors import PromptError, RecordingError, UnknownModelError
from graders.grader import Grader
from graders.prompt import GraderPrompt
from graders.prompt_library import load_prompt
from graders.providers import model_digest
from graders.sampling import Channel, Sampling
from graders.verdict import ParserRule

__all__ = ["Analyses", "Experiment", "check_run_name", "list_experiments", "load_experiment"]


@dataclass(frozen=True, slots=True)
class Analyses:
    """What the report is asked for: confidence level, parser, and whether parsers are compared."""

    level: float = 0.95
    parser: ParserRule = "robust"
    compare_parsers: bool = False


@dataclass(frozen=True, slots=True)
class Experiment:
    """Graders, the items that they judge, and the analyses.

    ``calibration_set`` holds the selected items only; ``n_items_in_set`` and ``set_digest`` are those
    of the whole set.
    ``run_id`` is the name and a digest of all that the report can depend on, so that the same
    experiment is the same run, and a changed one is another.
    """

    name: str
    description: str
    calibration_set: CalibrationSet
    n_items_in_set: int
    set_digest: str
    graders: tuple[Grader, ...]
    analyses: Analyses = field(default_factory=Analyses)

    @property
    def run_id(self) -> str:
        """``name-digest``."""
        content = {
            "set": dict(identify_set(self.calibration_set)),
            "whole_set": [self.set_digest, self.n_items_in_set],
            "graders": [[grader.grader_id, grader.title, grader.sampling.repeats] for grader in self.graders],
            "analyses": [str(self.analyses.level), self.analyses.parser, self.analyses.compare_parsers],
        }
        return f"{self.name}-{content_digest(content)[:8]}"


class _Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _SamplingSpec(_Forbidding):
    temperature: float | None = Field(default=None, ge=0, le=2)
    repeats: int | None = Field(default=None, ge=1, le=10_000)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    max_tokens: int | None = Field(default=None, ge=1)
    constrained: bool | None = None


class _GraderSpec(_Forbidding):
    model: str = Field(min_length=1)
    prompt: str | None = None
    sampling: _SamplingSpec = _SamplingSpec()


class _ItemsSpec(_Forbidding):
    sample: int | None = Field(default=None, ge=1)
    stratify: Literal["kind", "topic", "answer_type", "label"] | None = None
    seed: int = 0
    exclude_kinds: list[str] = Field(default_factory=list)


class _AnalysesSpec(_Forbidding):
    level: float = Field(default=0.95, gt=0.5, lt=1)
    parser: Literal["robust", "official"] = "robust"
    compare_parsers: bool = False


def check_run_name(name: str) -> str:
    """The name, fit to begin a run's id; ``ValueError`` if it is not."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", name):
        raise ValueError("expected up to 100 letters, digits, '_', '.' or '-', the first a letter or digit")
    return name


class _ExperimentSpec(_Forbidding):
    name: Annotated[str, AfterValidator(check_run_name)]
    set: str = Field(min_length=1)
    graders: list[_GraderSpec] = Field(min_length=1)
    description: str = ""
    sampling: _SamplingSpec = _SamplingSpec()
    items: _ItemsSpec = _ItemsSpec()
    analyses: _AnalysesSpec = _AnalysesSpec()


def list_experiments() -> tuple[str, ...]:
    """Names of the experiments that ship with the program."""
    folder = resources.files("experiments") / "library"
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load_experiment(name_or_path: str, *, limit: int | None = None) -> Experiment:
    """Read an experiment, its set and its prompts, and check that they fit together.

    Parameters
    ----------
    name_or_path
        Name of a shipped experiment or path of a TOML file. A set in it is a shipped set's name or
        a folder, relative to the file.
    limit
        Judge only the first so many of the selected items.

    Raises
    ------
    SpecError
        If the file is missing or malformed; the message names the key.
    calibration_sets.errors.CalibrationSetError, graders.errors.GraderError
        If its set, a prompt or a model is unknown or broken.
    """
    path = _find(name_or_path)
    if limit is not None and limit < 1:
        raise SpecError(f"--limit: {limit}; expected 1 or more")
    spec = parse_model(_ExperimentSpec, read_toml(path, SpecError), path.name, SpecError)
    whole = _load_set(spec.set, path)
    graders = tuple(
        _build_grader(entry, spec.sampling, whole.scale, path, f"{path.name}: graders[{position}]")
        for position, entry in enumerate(spec.graders)
    )
    _check_graders(graders, whole, path.name)
    _check_parser(spec.analyses, graders, whole, path.name)
    selection = Selection(
        sample=spec.items.sample,
        stratify=spec.items.stratify,
        seed=spec.items.seed,
        exclude_kinds=tuple(spec.items.exclude_kinds),
        limit=limit,
    )
    return Experiment(
        name=spec.name,
        description=spec.description,
        calibration_set=select_items(whole, selection, where=path.name),
        n_items_in_set=len(whole.items),
        set_digest=whole.digest,
        graders=graders,
        analyses=Analyses(spec.analyses.level, spec.analyses.parser, spec.analyses.compare_parsers),
    )


def _check_parser(
    analyses: _AnalysesSpec, graders: tuple[Grader, ...], calibration_set: CalibrationSet, where: str
) -> None:
    """Better refused now than after the calls are paid for."""
    wanted = "parser" if analyses.parser == "official" else "compare_parsers" if analyses.compare_parsers else None
    if wanted is None:
        return
    for grader in graders:
        scale = grader.prompt.scale if grader.prompt else calibration_set.scale
        if answers_by_letter(grader.model, grader.sampling.channel, scale, has_prompt=grader.prompt is not None):
            return
    raise SpecError(
        f"{where}: analyses.{wanted}: no grader answers with letters, which the official parser looks for; "
        "expected one whose prompt asks for a letter, such as simpleqa"
    )


def _find(name_or_path: str) -> Path:
    shipped = resources.files("experiments") / "library" / f"{name_or_path}.toml"
    if name_or_path in list_experiments():
        with resources.as_file(shipped) as path:
            return path
    path = Path(name_or_path)
    if _is_file(path):
        return path
    raise SpecError(
        f"experiment {shorten(name_or_path)}: no such file; expected a TOML file or one of "
        f"{list(list_experiments())} (autorater run --help shows an example)"
    )


def _is_file(path: Path) -> bool:
    """Whether there is a file; a name that can be no path is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _load_set(name: str, path: Path) -> CalibrationSet:
    beside = path.parent / name
    try:
        return load_set(beside) if _is_file(beside / "set.toml") else load_set(name)
    except SetNotFoundError as error:
        raise SpecError(f"{path.name}: set: {error}") from error


def _build_grader(entry: _GraderSpec, shared: _SamplingSpec, scale: LabelScale, path: Path, where: str) -> Grader:
    try:
        return _build_named_grader(entry, shared, scale, path, where)
    except (PromptError, RecordingError, UnknownModelError) as error:
        raise SpecError(f"{where}: {error}") from error


def _build_named_grader(entry: _GraderSpec, shared: _SamplingSpec, scale: LabelScale, path: Path, where: str) -> Grader:
    model, address = _resolve(entry.model, path.parent)
    digest = model_digest(address)
    prompt = _load_prompt(entry.prompt, path.parent) if entry.prompt is not None else None
    if prompt is None and not entry.model.startswith(("baseline/", "replay/")):
        raise SpecError(f"{where}: prompt, missing; expected a grader prompt such as 'simpleqa_verified@1.0.0'")
    settings = {**shared.model_dump(exclude_none=True), **entry.sampling.model_dump(exclude_none=True)}
    return Grader(
        model=model,
        sampling=_build_sampling(settings, prompt.channel if prompt else "word"),
        prompt=prompt,
        # What a grader without a prompt may answer depends on the labels of the set.
        model_digest=digest if prompt else f"{digest}; {', '.join(scale.labels)}",
        address=address,
    )


def _build_sampling(settings: Mapping[str, Any], channel: Channel) -> Sampling:
    return Sampling(channel=channel, **settings)


def _load_prompt(reference: str, folder: Path) -> GraderPrompt:
    beside = folder / reference
    return load_prompt(str(beside)) if beside.suffix == ".md" and _is_file(beside) else load_prompt(reference)


def _resolve(model: str, folder: Path) -> tuple[str, str]:
    """Model and address: a recording lies beside its experiment, and its path says nothing about it."""
    if not model.startswith("replay/") or model == "replay/":
        return model, model
    file = Path(model.removeprefix("replay/"))
    beside = folder / file
    return f"replay/{file.name}", f"replay/{beside if _is_file(beside) else file}"


def _check_graders(graders: tuple[Grader, ...], calibration_set: CalibrationSet, where: str) -> None:
    ids = [grader.grader_id for grader in graders]
    for position, grader in enumerate(graders):
        if grader.grader_id in ids[:position]:
            raise SpecError(f"{where}: graders[{position}]: {grader.title} is listed twice with the same sampling")
        if grader.prompt is not None and grader.prompt.scale.labels != calibration_set.scale.labels:
            raise SpecError(
                f"{where}: graders[{position}].prompt: {grader.prompt.title} gives {list(grader.prompt.scale.labels)}; "
                f"expected the labels of set {calibration_set.name}, {list(calibration_set.scale.labels)}"
            )
