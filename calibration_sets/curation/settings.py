"""Settings of a curation: a versioned TOML file, with the published pipeline's figures as defaults."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from calibration_sets.errors import SetFileError
from calibration_sets.records import Key, StrictRecord
from calibration_sets.strict import read_toml
from calibration_sets.strict_models import parse_model

__all__ = [
    "STAGES",
    "BalanceSettings",
    "CurationSettings",
    "LexicalSettings",
    "PublisherSettings",
    "RangeSettings",
    "SemanticSettings",
    "default_settings_text",
    "read_settings",
]

StageName = Literal[
    "unique_urls",
    "semantic_duplicates",
    "lexical_duplicates",
    "publishers",
    "balance",
    "source_conflicts",
    "numeric_conflicts",
    "ranges",
    "hardest",
]
STAGES: tuple[StageName, ...] = (
    "unique_urls",
    "semantic_duplicates",
    "lexical_duplicates",
    "publishers",
    "balance",
    "source_conflicts",
    "numeric_conflicts",
    "ranges",
    "hardest",
)
"""The stages in their order; the number of a stage is its place here, counted from 1."""

WhichUrl = Literal["any", "first"]
Cosine = Annotated[float, Field(gt=0, le=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Weights = dict[Key, Annotated[float, Field(ge=0, allow_inf_nan=False)]]


class UrlSettings(StrictRecord):
    """Which of a question's addresses must be its own."""

    match: WhichUrl = "any"


class SemanticSettings(StrictRecord):
    """Questions whose embeddings are nearer than this are one question; ``dimensions`` is the built-in embedder's."""

    threshold: Cosine = 0.77
    dimensions: Annotated[int, Field(ge=2)] = 512


class LexicalSettings(StrictRecord):
    """Pairs nearer than this go to people, ``most_pairs`` at most; what becomes of a pair that nobody has judged."""

    threshold: Cosine = 0.4
    most_pairs: Annotated[int, Field(ge=1)] = 20_000
    undecided: Literal["keep", "drop"] = "keep"


class PublisherSettings(StrictRecord):
    """Robots whose exclusion counts, and what becomes of a question about whose publisher nothing is known."""

    agents: Annotated[list[Key], Field(min_length=1)] = Field(
        default_factory=lambda: ["Google-Extended", "GPTBot", "ClaudeBot", "CCBot"]
    )
    match: WhichUrl = "any"
    unknown: Literal["keep", "drop"] = "keep"


class BalanceSettings(StrictRecord):
    """How many questions to keep (``size``, else ``share``) and in which proportions (none given: even)."""

    size: Annotated[int, Field(ge=1)] | None = None
    share: Share = 0.657
    answer_types: Weights = Field(default_factory=dict)
    topics: Weights = Field(default_factory=dict)


class SourceSettings(StrictRecord):
    """Answer types whose sources are compared as numbers, not as words."""

    numeric_types: list[Key] = Field(default_factory=lambda: ["Number"])


class NumericSettings(StrictRecord):
    """How far a source may be from the reference, as a share of the reference."""

    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.05


class RangeSettings(StrictRecord):
    """Classes of numbers: counts below ``exact_below`` are exact, values from ``large_from`` are very large."""

    exact_below: Annotated[int, Field(ge=0)] = 30
    large_from: Annotated[int, Field(ge=1)] = 10_000
    medium_share: Share = 0.01
    large_share: Share = 0.05


class HardestSettings(StrictRecord):
    """How many of the hardest questions stay."""

    size: Annotated[int, Field(ge=1)] = 1000


class CurationSettings(StrictRecord):
    """All settings. ``version`` is that of this format; ``seed`` breaks ties between equally good questions."""

    version: Literal[1] = 1
    seed: int = 0
    stages: list[StageName] = Field(default_factory=lambda: list(STAGES))
    unique_urls: UrlSettings = Field(default_factory=UrlSettings)
    semantic_duplicates: SemanticSettings = Field(default_factory=SemanticSettings)
    lexical_duplicates: LexicalSettings = Field(default_factory=LexicalSettings)
    publishers: PublisherSettings = Field(default_factory=PublisherSettings)
    balance: BalanceSettings = Field(default_factory=BalanceSettings)
    source_conflicts: SourceSettings = Field(default_factory=SourceSettings)
    numeric_conflicts: NumericSettings = Field(default_factory=NumericSettings)
    ranges: RangeSettings = Field(default_factory=RangeSettings)
    hardest: HardestSettings = Field(default_factory=HardestSettings)

    @model_validator(mode="after")
    def _stages_in_order(self) -> Self:
        if not self.stages or self.stages != [name for name in STAGES if name in self.stages]:
            raise ValueError(f"stages: expected some of {', '.join(STAGES)}, each once and in this order")
        return self


class _SettingsFile(CurationSettings):
    """A file has to say which version of the format it is written in."""

    version: Literal[1]


def read_settings(path: Path | None) -> CurationSettings:
    """The settings of a file, or the defaults; ``SetFileError`` for a file that is not what it should be."""
    if path is None:
        return CurationSettings()
    found = parse_model(_SettingsFile, read_toml(path, SetFileError), path.name, SetFileError)
    return CurationSettings.model_validate(found.model_dump())


def default_settings_text() -> str:
    """The defaults as a file to begin with, each with what it means."""
    return resources.files(__package__).joinpath("default.toml").read_text(encoding="utf-8")
