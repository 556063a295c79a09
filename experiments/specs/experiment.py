"""Experiments: which graders judge which set, how often, and what is asked of the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetNotFoundError
from calibration_sets.fetch import find_source
from calibration_sets.item import content_digest
from calibration_sets.loader import load_set
from calibration_sets.strict import read_toml, shorten
from calibration_sets.strict_models import parse_model
from experiments.errors import SpecError
from experiments.regimes.question_set import load_question_set
from experiments.respondents.questions import build_questions, load_question_file
from experiments.respondents.respondent import Answering
from experiments.respondents.respondent_building import build_answering
from experiments.specs.decisions import DecisionSpecs
from experiments.specs.engine_choice import check_engine
from experiments.specs.experiment_file import AnalysesSpec, ExperimentSpec, check_run_name
from experiments.specs.grader_building import build_graders, is_file
from experiments.specs.joint_graders import name_graders, resolve_joint_graders
from experiments.specs.official_rule import answers_by_letter
from experiments.specs.selection import Selection, select_items
from experiments.specs.wording_rule import check_wording_rule, name_wordings
from experiments.store.set_snapshot import identify_set
from graders.grader import Grader
from graders.verdict import ParserRule

__all__ = ["Analyses", "Experiment", "check_run_name", "list_experiments", "load_experiment"]

_FETCHED = "simpleqa_verified"
"""The benchmark whose questions can be asked by its name, once it is fetched."""


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
    of the whole set. With ``answering`` the set holds questions, before they are answered; later it
    holds their responses (:mod:`experiments.respondents.responses`).
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
    decisions: DecisionSpecs = field(default_factory=DecisionSpecs)
    answering: Answering | None = None

    @property
    def is_looked_at(self) -> bool:
        """Whether its comparison of wordings may be looked at while it runs, which decides the order of asking."""
        return self.decisions.ab is not None and self.decisions.ab.stopping == "anytime"

    @property
    def run_id(self) -> str:
        """``name-digest``."""
        content: dict[str, Any] = {
            "set": dict(identify_set(self.calibration_set)),
            "whole_set": [self.set_digest, self.n_items_in_set],
            "graders": [[grader.grader_id, grader.title, grader.sampling.repeats] for grader in self.graders],
            "analyses": [str(self.analyses.level), self.analyses.parser, self.analyses.compare_parsers],
        }
        if self.decisions != DecisionSpecs():
            content["decisions"] = self.decisions.model_dump(mode="json", by_alias=True, exclude_none=True)
        if self.answering is not None:
            content["answering"] = self.answering.identity
        return f"{self.name}-{content_digest(content)[:8]}"


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
        a folder, relative to the file; with ``[answering]`` also ``simpleqa_verified``, once it is fetched, or
        the CSV of it.
    limit
        Judge only the first so many of the selected items; with ``[answering]`` ask only so many questions.

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
    spec = parse_model(ExperimentSpec, read_toml(path, SpecError), path.name, SpecError)
    _check_regimes(spec, path.name)
    answering = build_answering(spec, path)
    whole = _load_set(spec.set, path) if answering is None else _load_questions(spec, path)
    graders = build_graders(spec, whole, path)
    respondents = () if answering is None else tuple(one.grader for one in answering.respondents)
    check_engine(spec, (*graders, *respondents), path.name)
    _check_parser(spec.analyses, graders, whole, path.name)
    _check_joint_graders(spec, graders, path.name)
    _check_wordings(spec, graders, answering, path.name)
    selection = Selection(
        sample=spec.items.sample,
        stratify=spec.items.stratify,
        seed=spec.items.seed,
        # Of a set of questions the items are chosen before: a question has no kind of response.
        exclude_kinds=tuple(spec.items.exclude_kinds) if answering is None else (),
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
        decisions=spec.decisions,
        answering=answering,
    )


def _check_regimes(spec: ExperimentSpec, where: str) -> None:
    """Regimes are compared by a rule of their own."""
    others = [name for name in ("answering", "ab", "choose") if getattr(spec, name) is not None]
    if spec.regimes is not None and others:
        raise SpecError(f"{where}: {others[0]}: stands beside regimes; expected one of the two")


def _check_parser(
    analyses: AnalysesSpec, graders: tuple[Grader, ...], calibration_set: CalibrationSet, where: str
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


def _check_joint_graders(spec: ExperimentSpec, graders: tuple[Grader, ...], where: str) -> None:
    """Members of panels and cascades are graders of the experiment."""
    if spec.choose is None:
        return
    names = name_graders(
        [grader.prompt.title if grader.prompt else None for grader in graders],
        [grader.model for grader in graders],
        [grader.grader_id for grader in graders],
    )
    computed = {name for name, grader in zip(names, graders, strict=True) if grader.sampling.method == "exact"}
    resolve_joint_graders(spec.choose, names, where=f"{where}: choose", computed=computed)


def _check_wordings(spec: ExperimentSpec, graders: tuple[Grader, ...], answering: Answering | None, where: str) -> None:
    """The rule about wordings is one that can be applied to those of the experiment."""
    if spec.ab is None:
        return
    if answering is not None:
        check_wording_rule(spec.ab, [one.prompt for one in answering.respondents], "answer", where)
    else:
        titles = [grader.prompt.title for grader in graders if grader.prompt]
        check_wording_rule(spec.ab, name_wordings(titles), "grader", where)


def _find(name_or_path: str) -> Path:
    shipped = resources.files("experiments") / "library" / f"{name_or_path}.toml"
    if name_or_path in list_experiments():
        with resources.as_file(shipped) as path:
            return path
    path = Path(name_or_path)
    if is_file(path):
        return path
    raise SpecError(
        f"experiment {shorten(name_or_path)}: no such file; expected a TOML file or one of "
        f"{list(list_experiments())} (autorater run --help shows an example)"
    )


def _load_questions(spec: ExperimentSpec, path: Path) -> CalibrationSet:
    """The questions of a set, or of a benchmark's own file."""
    if spec.items.stratify == "label":
        raise SpecError(f"{path.name}: items.stratify: 'label'; expected kind, topic or answer_type for questions")
    if spec.regimes is not None:
        whole = load_question_set(path.parent / Path(spec.set).expanduser(), max_characters=spec.regimes.max_characters)
        return select_items(whole, Selection(exclude_kinds=tuple(spec.items.exclude_kinds)), where=path.name)
    file = _fetched_questions(path.name) if spec.set == _FETCHED else path.parent / Path(spec.set).expanduser()
    if file.suffix == ".csv" and is_file(file):
        return build_questions(load_question_file(file))
    kept = Selection(exclude_kinds=tuple(spec.items.exclude_kinds))
    return build_questions(select_items(_load_set(spec.set, path), kept, where=path.name))


def _fetched_questions(where: str) -> Path:
    """The benchmark's file in the cache."""
    file = find_source(_FETCHED)
    if file is None:
        raise SpecError(
            f"{where}: set: {_FETCHED!r} is not here yet; expected 'autorater sets fetch {_FETCHED}' before"
        )
    return file


def _load_set(name: str, path: Path) -> CalibrationSet:
    beside = path.parent / name
    try:
        return load_set(beside) if is_file(beside / "set.toml") else load_set(name)
    except SetNotFoundError as error:
        raise SpecError(f"{path.name}: set: {error}") from error
