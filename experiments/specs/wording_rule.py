"""What a rule about wordings can be applied to: checked before anything is asked, and against the run later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from experiments.errors import SpecError
from experiments.specs.decisions import AbSpec
from experiments.stats.scores import SCORES

__all__ = ["GRADER_QUANTITIES", "check_wording_rule", "find_wording", "name_wordings"]

GRADER_QUANTITIES = ("accuracy", "sensitivity", "specificity")
"""What wordings of a grader are held against; those of answers have the benchmark's scores."""


def name_wordings(titles: Sequence[str]) -> list[str]:
    """``name@version`` of each title ``name@version#digest``, with the digest where two texts share that."""
    short = [title.partition("#")[0] for title in titles]
    texts = {name: {title for title, own in zip(titles, short, strict=True) if own == name} for name in short}
    return [title if len(texts[name]) > 1 else name for title, name in zip(titles, short, strict=True)]


def find_wording(name: str, wordings: Sequence[str], where: str) -> str:
    """The wording of a name: ``name@version``, or the name alone where it has one version.

    Raises
    ------
    SpecError
        If there is none, or more than one; the message begins with ``where``.
    """
    exact = [wording for wording in wordings if name in (wording, wording.partition("#")[0])]
    found = exact or [wording for wording in wordings if wording.partition("@")[0] == name.partition("#")[0]]
    if len(found) != 1:
        raise SpecError(f"{where}: {name!r}, {len(found)} wordings of that name; expected one of {list(wordings)}")
    return found[0]


def check_wording_rule(spec: AbSpec, wordings: Sequence[str], kind: Literal["grader", "answer"], where: str) -> None:
    """Raise unless a rule can be applied to the wordings of a run.

    Parameters
    ----------
    spec
        The rule.
    wordings
        Distinct names, by :func:`name_wordings`.
    kind
        Whose wordings they are, which decides what is measured.
    where
        What errors begin with, such as ``study.toml``.

    Raises
    ------
    SpecError
        A control that is none of the wordings, no other wording, a quantity that is not measured, a margin that
        allows nothing or everything, a rule for all looks that has no limits for them.
    """
    distinct = list(dict.fromkeys(wordings))
    if len(distinct) < 2:
        raise SpecError(f"{where}: ab: the {kind} prompts are {distinct}; expected two or more, the control among them")
    find_wording(spec.control, distinct, f"{where}: ab.control")
    _check_quantities(spec, tuple(SCORES) if kind == "answer" else GRADER_QUANTITIES, where)
    if spec.stopping == "anytime":
        _check_looks(spec, kind, where)


def _check_quantities(spec: AbSpec, quantities: Sequence[str], where: str) -> None:
    for key, name in (("raise", spec.raises), *(("may_not_fall", name) for name in spec.may_not_fall)):
        if name not in quantities:
            raise SpecError(f"{where}: ab.{key}: {name!r}; expected one of {list(quantities)}")
    if spec.raises in spec.may_not_fall:
        others = [name for name in quantities if name != spec.raises]
        raise SpecError(f"{where}: ab.may_not_fall: {spec.raises!r}, which is to rise; expected one of {others}")
    for name, margin in spec.may_not_fall.items():
        if not margin > 0:
            raise SpecError(f"{where}: ab.may_not_fall.{name}: {margin:g}; expected a margin above 0")


def _check_looks(spec: AbSpec, kind: str, where: str) -> None:
    """Limits for all looks are those of means over questions, in these models."""
    if spec.scope == "sampled":
        raise SpecError(f'{where}: ab.scope: "sampled"; expected "fixed" or "every-model" with stopping = "anytime"')
    means = [name for name, score in SCORES.items() if score.denominator == (1.0, 1.0, 1.0)]
    spans = dict.fromkeys(GRADER_QUANTITIES, 1.0)
    if kind == "answer":
        spans = {name: high - low for name in means for low, high in (SCORES[name].span(1.0),)}
    for key, name in (("raise", spec.raises), *(("may_not_fall", name) for name in spec.may_not_fall)):
        if name not in spans:
            raise SpecError(
                f"{where}: ab.{key}: {name!r} is a ratio, which has no limits for all looks here; expected one of "
                f'{list(spans)}, or stopping = "fixed-size"'
            )
    for name, margin in spec.may_not_fall.items():
        if margin >= spans[name]:
            raise SpecError(
                f"{where}: ab.may_not_fall.{name}: {margin:g}, as far as it can fall; expected a smaller margin"
            )
