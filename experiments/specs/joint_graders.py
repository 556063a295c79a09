"""Names of an experiment's graders, and the panels and cascades that are made of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from experiments.errors import SpecError
from experiments.specs.decisions import CascadeSpec, ChooseSpec, PanelSpec

__all__ = ["find_name", "name_graders", "resolve_joint_graders"]


def name_graders(prompts: Sequence[str | None], models: Sequence[str], grader_ids: Sequence[str]) -> list[str]:
    """Prompt and model of each grader; the beginning of its id beside them where these are not distinct.

    Parameters
    ----------
    prompts
        Titles, ``name@version#digest``, or ``None`` where a grader has no prompt.
    models, grader_ids
        As many.
    """
    names = [
        f"{prompt.partition('#')[0]} {model}" if prompt else model
        for prompt, model in zip(prompts, models, strict=True)
    ]
    return [
        name if names.count(name) == 1 else f"{name} {grader_id[:6]}"
        for name, grader_id in zip(names, grader_ids, strict=True)
    ]


def find_name(names: Sequence[str], wanted: str, *, grader_ids: Sequence[str] = ()) -> int:
    """The place of the grader that is wanted.

    Parameters
    ----------
    names
        Of the graders, by :func:`name_graders`.
    wanted
        A whole name or a whole id; or what only one name holds as a word, as its model or prompt; or the end of such a
        word behind a slash, as a model without its provider; or a prompt without its version.
    grader_ids
        Ids of the graders, where they may be asked for by these.

    Raises
    ------
    LookupError
        If there is none, or more than one; the message lists the names.
    """
    words = [name.split() for name in names]
    found = _places(
        [name == wanted for name in names],
        [grader_id == wanted for grader_id in grader_ids],
        [wanted in own for own in words],
        [wanted in {word.rpartition("/")[2] for word in own} for own in words],
        [wanted in {word.partition("@")[0] for word in own if "@" in word} for own in words],
    )
    if len(found) != 1:
        shown = [names[place] for place in found] or list(names)
        raise LookupError(f"{wanted!r}, {len(found)} graders of that name; expected one of {shown}")
    return found[0]


def _places(*matches: Sequence[bool]) -> list[int]:
    """Where the first way that fits any grader fits."""
    ways = ([place for place, fits in enumerate(way) if fits] for way in matches)
    return next((found for found in ways if found), [])


def resolve_joint_graders(
    spec: ChooseSpec, names: Sequence[str], *, where: str = "choose", computed: Collection[str] = ()
) -> ChooseSpec:
    """The rule with the whole names of all members of its panels and cascades.

    Parameters
    ----------
    spec
        The rule as it was written.
    names
        Of the graders, by :func:`name_graders`.
    where
        What errors begin with.
    computed
        Names of graders whose repeats are computed, not asked.

    Raises
    ------
    SpecError
        If a member is none of the graders, or one twice, or a name is taken, or a cascade begins with a grader whose
        repeats are computed.
    """
    taken = [*names, *(panel.name for panel in spec.panels), *(cascade.name for cascade in spec.cascades)]
    twice = [name for name in taken if taken.count(name) > 1]
    if twice:
        raise SpecError(f"{where}: two are called {twice[0]!r}; expected panels and cascades with names of their own")
    panels = [
        _resolve_panel(panel, names, f"{where}.panels[{place}] {panel.name!r}")
        for place, panel in enumerate(spec.panels)
    ]
    cascades = [
        _resolve_cascade(cascade, names, computed, f"{where}.cascades[{place}] {cascade.name!r}")
        for place, cascade in enumerate(spec.cascades)
    ]
    return spec.model_copy(update={"panels": panels, "cascades": cascades})


def _resolve_panel(panel: PanelSpec, names: Sequence[str], where: str) -> PanelSpec:
    members = [_find(names, member, f"{where}: members") for member in panel.members]
    if len(set(members)) < len(members):
        raise SpecError(f"{where}: members {panel.members}; expected different graders")
    return panel.model_copy(update={"members": members})


def _resolve_cascade(cascade: CascadeSpec, names: Sequence[str], computed: Collection[str], where: str) -> CascadeSpec:
    first, then = (_find(names, cascade.first, f"{where}: first"), _find(names, cascade.then, f"{where}: then"))
    if first == then:
        raise SpecError(f"{where}: first and then are both {first!r}; expected two graders")
    if first in computed:
        raise SpecError(f"{where}: first: the repeats of {first!r} are computed; expected a grader that is asked")
    return cascade.model_copy(update={"first": first, "then": then})


def _find(names: Sequence[str], wanted: str, where: str) -> str:
    try:
        return names[find_name(names, wanted)]
    except LookupError as error:
        raise SpecError(f"{where}: {error.args[0]}") from error
