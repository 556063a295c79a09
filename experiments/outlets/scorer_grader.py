"""The grader that a scorer's arguments name: keys of an experiment's file, or a grader of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration_sets.scale import SCALES, LabelScale
from calibration_sets.strict_models import parse_model
from experiments.errors import SpecError
from experiments.outlets.aggregation import AGGREGATIONS, label_value
from experiments.outlets.item_grading import build_items_set
from experiments.specs.experiment import load_experiment
from experiments.specs.experiment_file import ExperimentSpec
from experiments.specs.grader_building import build_graders
from experiments.specs.joint_graders import find_name, name_graders
from graders.errors import PromptError
from graders.grader import Grader
from graders.prompt_library import load_prompt

__all__ = ["ScorerGrader", "build_scorer_grader"]

_WHERE = "autorater/grader"


@dataclass(frozen=True, slots=True)
class ScorerGrader:
    """A grader and the labels that it gives."""

    grader: Grader
    scale: LabelScale


def build_scorer_grader(
    table: Mapping[str, Any], *, scale: str | None, experiment: str | None, name: str | None, aggregation: str
) -> ScorerGrader:
    """The grader of a table's keys, or, with ``experiment``, one of a file's.

    Parameters
    ----------
    table
        Keys as under ``[[graders]]``; ``None`` stands for a key that is not there.
    scale
        Name of the labels of a grader without a prompt.
    experiment
        A file, or the name of a shipped one.
    name
        Which of the file's graders, where it has several.
    aggregation
        The rule, checked against the scale.

    Raises
    ------
    SpecError
        If a key is unknown or does not fit, or arguments are given that exclude one another.
    """
    given = {key: value for key, value in table.items() if value is not None}
    if aggregation not in AGGREGATIONS:
        raise SpecError(f"{_WHERE}: aggregation: {aggregation!r}; expected one of {list(AGGREGATIONS)}")
    if experiment is not None:
        if given or scale is not None:
            extra = next(iter(given), "scale")
            raise SpecError(f"{_WHERE}: {extra}: given beside experiment; expected it in the experiment's file")
        chosen = _choose(experiment, name)
    elif name is not None:
        raise SpecError(f"{_WHERE}: grader: {name!r} without experiment; expected the file that it is in")
    else:
        chosen = _build(given, scale)
    _check_scale(chosen.scale)
    return chosen


def _build(given: Mapping[str, Any], scale: str | None) -> ScorerGrader:
    labels = _labels(given.get("prompt"), scale)
    content = {"name": "items", "set": "items", "graders": [dict(given)]}
    try:
        spec = parse_model(ExperimentSpec, content, _WHERE, SpecError)
        # What it names is looked for in the current folder, as in an experiment's file beside it.
        (grader,) = build_graders(spec, build_items_set((), labels), Path.cwd() / "grader")
    except SpecError as error:
        told = str(error).replace("grader: graders[0]", _WHERE).replace("graders[0].", "")
        raise SpecError(told) from error
    return ScorerGrader(grader, labels)


def _labels(prompt: object, scale: str | None) -> LabelScale:
    if isinstance(prompt, str):
        if scale is not None:
            raise SpecError(f"{_WHERE}: scale: {scale!r} beside a prompt, which brings its own; expected no such key")
        try:
            return load_prompt(prompt).scale
        except PromptError as error:
            raise SpecError(f"{_WHERE}: prompt: {error}") from error
    if (scale or "simpleqa") not in SCALES:
        raise SpecError(f"{_WHERE}: scale: {scale!r}; expected one of {list(SCALES)}")
    return SCALES[scale or "simpleqa"]


def _choose(experiment: str, name: str | None) -> ScorerGrader:
    loaded = load_experiment(experiment)
    graders = loaded.graders
    names = name_graders(
        [one.prompt.title if one.prompt else None for one in graders],
        [one.model for one in graders],
        [one.grader_id for one in graders],
    )
    if name is None and len(graders) > 1:
        raise SpecError(f"{_WHERE}: grader: missing, {experiment} has {len(graders)}; expected one of {names}")
    try:
        place = 0 if name is None else find_name(names, name, grader_ids=[one.grader_id for one in graders])
    except LookupError as error:
        raise SpecError(f"{_WHERE}: grader: {error.args[0]}") from error
    chosen = graders[place]
    return ScorerGrader(chosen, chosen.prompt.scale if chosen.prompt else loaded.calibration_set.scale)


def _check_scale(scale: LabelScale) -> None:
    try:
        label_value(scale.labels[0], scale)
    except ValueError as error:
        raise SpecError(f"{_WHERE}: {error}") from error
