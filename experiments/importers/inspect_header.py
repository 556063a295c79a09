"""What the header of an Inspect log tells of its scorers and models, for all of its samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration_sets.item import content_digest
from experiments.importers.answers import ImportedGrader

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

__all__ = ["LogHeader"]

_MODEL_GRADED = ("model_graded_qa", "model_graded_fact")


@dataclass(frozen=True, slots=True)
class LogHeader:
    """Of one log; ``scorers`` has the options of each scorer under the name that its samples know it by."""

    file: str
    task: str
    model: str
    version: str
    n_expected: int
    scorers: Mapping[str, Mapping[str, Any]]
    qualified: Mapping[str, str]
    roles: Mapping[str, str]

    @classmethod
    def of(cls, path: Path, header: EvalLog) -> LogHeader:
        """The header of the log in a file."""
        spec = header.eval
        scorers: dict[str, Mapping[str, Any]] = {}
        qualified: dict[str, str] = {}
        for scorer in spec.scorers or []:
            name = _free_name(scorer.name.partition("/")[2] or scorer.name, scorers)
            scorers[name] = scorer.options or {}
            qualified[name] = scorer.name
        return cls(
            file=path.name,
            task=spec.task_id,
            model=spec.model,
            version=spec.packages.get("inspect_ai", ""),
            n_expected=len(spec.dataset.sample_ids or []) * (spec.config.epochs or 1),
            scorers=scorers,
            qualified=qualified,
            roles={
                role: ", ".join(one.model for one in (config if isinstance(config, list) else [config]))
                for role, config in (spec.model_roles or {}).items()
            },
        )

    def is_model_graded(self, name: str) -> bool:
        """Whether a scorer is one of Inspect's own that ask a model, or a panel of such."""
        panel = self.scorers.get(name, {}).get("scorers")
        inner = [one.get("name") for one in panel if isinstance(one, Mapping)] if isinstance(panel, list) else []
        names = inner if inner and name.startswith("multi_scorer") else [self.qualified.get(name, name)]
        return all(str(one).rpartition("/")[2].rstrip("0123456789") in _MODEL_GRADED for one in names)

    def is_named(self, name: str, wanted: str) -> bool:
        """Whether a scorer is the one that was asked for, by its own name or with that of its package."""
        return wanted in (name, self.qualified.get(name))

    def grader(self, name: str, model: str | None) -> ImportedGrader:
        """Named by its scorer; what decides its prompts is the scorer's options and the version of Inspect."""
        options = {key: value for key, value in self.scorers.get(name, {}).items() if key != "model"}
        template = content_digest([name, _options_text(options), self.version])
        return ImportedGrader(name, model or self._model(name), template)

    def _model(self, name: str) -> str:
        """The model of a scorer that no event tells; of a scorer of somebody's own it stands nowhere."""
        if not self.is_model_graded(name):
            return "unstated"
        options = self.scorers.get(name, {})
        given = options.get("model")
        told = [_model_name(one) for one in (given if isinstance(given, list) else [given])]
        known = ", ".join(one for one in told if one is not None)
        return known or self.roles.get(str(options.get("model_role") or "grader"), self.model)


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    """Inspect's own rule for scorers of one name: the second is ``name1``."""
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}{number}"
    return free


def _model_name(given: object) -> str | None:
    name = given.get("model") if isinstance(given, Mapping) else given
    return name if isinstance(name, str) else None


def _options_text(value: object) -> str:
    """Options as text, in an order of their own."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_options_text(value[key])}" for key in sorted(value, key=str)) + "}"
    return repr(value)
