"""The texts of the regimes: a regime is to a question what an answer prompt is.

``experiments/regimes/prompts/<regime>/<semver>.md`` are files of answer prompts whose placeholders are ``$question``
and, by regime, ``$concepts`` or ``$documents``; ``prompts.lock`` beside them holds their digests. They differ in
nothing but what is given and the line that says so. Under ``<regime>_by_tool`` the prompt has the documents' titles
alone, and a model opens them by a tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from calibration_sets.item import Item
from calibration_sets.scale import SIMPLEQA
from experiments.regimes.material import Material
from experiments.regimes.regime_names import BY_TOOL, RegimeName, regime_of
from experiments.respondents.answer_prompts import NO_RUBRIC, AnswerPrompt, check_published, read_wording
from graders.prompt_library import PromptEntry, read_text, scan_library

__all__ = ["SHIPPED", "RegimePrompt", "load_regime_prompt", "read_regime_entry"]

SHIPPED = Path(__file__).parent / "prompts"
"""The folder of the regimes' texts."""

_PLACES: Mapping[str, tuple[str, ...]] = {
    "instruction_only": ("question",),
    "concepts_only": ("concepts", "question"),
    "related_documents": ("documents", "question"),
    "full_set": ("documents", "question"),
    f"related_documents{BY_TOOL}": ("documents", "question"),
    f"full_set{BY_TOOL}": ("documents", "question"),
}


@dataclass(frozen=True, slots=True)
class RegimePrompt(AnswerPrompt):
    """How a question is put under the regime of the prompt's name. Its items carry their material."""

    @property
    def reads_by_tool(self) -> bool:
        """Whether a model opens the documents by a tool."""
        return self.name.endswith(BY_TOOL)

    def openable(self, item: Item) -> tuple[str, ...]:
        """The documents of a question, in the order of their numbers, where a model opens them by a tool."""
        if not self.reads_by_tool:
            return ()
        material = Material.from_text(item.response)
        return tuple(one.text for one in material.arrange(item.question, with_distractors=self._has_distractors))

    def render(self, item: Item) -> str:
        """The text that a model reads: the question, and what its regime gives of the material, as they stand."""
        return Template(self.text).substitute(self._parts(item))

    def item_text(self, item: Item) -> str:
        """Question and what its regime gives of the material."""
        return "".join(self._parts(item).values())

    def _parts(self, item: Item) -> dict[str, str]:
        parts = {"question": item.question}
        if self.name == "instruction_only":
            return parts
        material = Material.from_text(item.response)
        if self.name == "concepts_only":
            return parts | {"concepts": material.list_concepts()}
        listing = material.list_titles if self.reads_by_tool else material.list_documents
        return parts | {"documents": listing(item.question, with_distractors=self._has_distractors)}

    @property
    def _has_distractors(self) -> bool:
        return regime_of(self.name) == "full_set"


def load_regime_prompt(regime: RegimeName, *, by_tool: bool = False) -> RegimePrompt:
    """The newest text of a regime; ``PromptError`` if it is not what its lock says.

    Parameters
    ----------
    regime
        The regime.
    by_tool
        Whether its documents, if it has any, are opened by a tool.
    """
    name = f"{regime}{BY_TOOL}" if by_tool and "documents" in _PLACES[regime] else regime
    return read_regime_entry([entry for entry in scan_library(SHIPPED, "shipped") if entry.name == name][-1])


def read_regime_entry(entry: PromptEntry) -> RegimePrompt:
    """Read an entry's file; ``PromptError`` if it is malformed or, shipped, not what its lock says."""
    body, description = read_wording(read_text(entry.path), where=str(entry.path), places=_PLACES[entry.name])
    prompt = RegimePrompt(
        name=entry.name,
        version=entry.version,
        rubric=NO_RUBRIC,
        scale=SIMPLEQA,
        channel="letter",
        form="chat",
        text=body,
        description=description,
    )
    if entry.origin == "shipped":
        check_published(prompt, entry)
    return prompt
