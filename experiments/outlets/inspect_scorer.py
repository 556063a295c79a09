"""The scorer ``autorater/grader`` for Inspect, and its metrics; found by Inspect's entry point of this name.

In a task::

    Task(dataset, scorer=grader(prompt="simpleqa_verified@1.0.0", model="openai/gpt-4.1-mini"))

or over a log that is there::

    inspect score LOG --scorer autorater/grader -S prompt=simpleqa_verified@1.0.0 -S model=openai/gpt-4.1-mini
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from experiments.errors import SpecError
from experiments.outlets.aggregation import Aggregate, Aggregation, aggregate_verdicts
from experiments.outlets.item_grading import GradedItem, ItemGrader
from experiments.outlets.scorer_grader import build_scorer_grader
from experiments.store.store_place import parse_place
from graders.errors import MissingDependencyError
from graders.grader import Grader

try:
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, accuracy, metric, scorer, stderr
    from inspect_ai.solver import TaskState
except ImportError as error:  # pragma: no cover - where the extra is not installed
    raise MissingDependencyError(
        "autorater/grader: inspect-ai is not installed; expected pip install 'autorater-calibration[inspect]'"
    ) from error

__all__ = ["clustered_stderr", "grader", "verdict_counts"]

_DEFAULT_STORE = "autorater.sqlite"
_Made = TypeVar("_Made", bound=Callable[..., Any])


def _named_autorater(made: _Made) -> _Made:
    """Inspect puts the import package before a registered name, unless its module is none that can be found."""
    made.__module__ = "autorater"
    return made


@metric(name="autorater/clustered_stderr")
@_named_autorater
def clustered_stderr(cluster: str = "cluster_id") -> Metric:
    """Standard error of the accuracy, by question where samples say which question they are of.

    Parameters
    ----------
    cluster
        Key of a sample's metadata; where one sample or more lacks it, every sample is a question of its own.

    Returns
    -------
    Metric
        From scores to the standard error on the scale of the score, 0 to 1 for right and wrong; NaN, which is
        Inspect's sign for what is not defined, below two questions.
    """

    def compute(scores: list[SampleScore]) -> Value:
        groups = [(score.sample_metadata or {}).get(cluster) for score in scores]
        by_question = None not in groups
        if (len(set(map(str, groups))) if by_question else len(scores)) < 2:
            return float("nan")
        return stderr(cluster=cluster if by_question else None)(scores)  # type: ignore[arg-type]

    return compute


@metric(name="autorater/verdict_counts", scores="unreduced")
@_named_autorater
def verdict_counts() -> Metric:
    """How many verdicts stand behind the scored samples, all epochs together, and how many brought no label.

    Samples without any usable verdict are not among them: Inspect counts those as ``unscored_samples``.

    Returns
    -------
    Metric
        From scores to ``verdicts`` and ``failed_verdicts``, both counts.
    """

    def compute(scores: list[SampleScore]) -> Value:
        told = [score.score.metadata or {} for score in scores]
        return {
            "verdicts": sum(sum(one.get("counts", {}).values()) for one in told),
            "failed_verdicts": sum(sum(one.get("failures", {}).values()) for one in told),
        }

    return compute


@scorer(metrics=[accuracy(), clustered_stderr(), verdict_counts()], name="autorater/grader")
@_named_autorater
def grader(
    model: str | None = None,
    prompt: str | None = None,
    sampling: dict[str, Any] | None = None,
    base_url: str | None = None,
    key_variable: str | None = None,
    on_unsupported: str | None = None,
    max_connections: int | None = None,
    timeout_seconds: float | None = None,
    max_wait_seconds: float | None = None,
    scale: str | None = None,
    experiment: str | None = None,
    grader: str | None = None,
    aggregation: Aggregation = "majority",
    store: str | None = None,
) -> Scorer:
    """Score a sample by a versioned grader, asked as often as its sampling says.

    The sample's input is the question, its target the reference (further targets are further answers that are right),
    and the model's completion the response. A sample without a usable verdict is unscored, with its reason.

    Parameters
    ----------
    model, prompt, sampling, base_url, key_variable, on_unsupported, max_connections, timeout_seconds, max_wait_seconds
        As under ``[[graders]]`` of an experiment's file; times are seconds.
    scale
        Labels of a grader that takes no prompt; ``simpleqa`` by default.
    experiment, grader
        A grader of an experiment's file instead, by name where it has several.
    aggregation
        ``majority`` (a tie is unscored) or ``mean``.
    store
        Where every reply is kept, and not paid again; by default as the command has it, ``AUTORATER_STORE`` or
        ``autorater.sqlite``.

    Returns
    -------
    Scorer
        Gives ``C``, ``I``, ``N`` (not attempted) or ``P`` (partly right), or a number, with all verdicts as metadata.

    Raises
    ------
    SpecError
        If an argument is unknown or does not fit.
    """
    table = {
        "model": model,
        "prompt": prompt,
        "sampling": sampling,
        "base_url": base_url,
        "key_variable": key_variable,
        "on_unsupported": on_unsupported,
        "max_connections": max_connections,
        "timeout_seconds": timeout_seconds,
        "max_wait_seconds": max_wait_seconds,
    }
    chosen = build_scorer_grader(table, scale=scale, experiment=experiment, name=grader, aggregation=aggregation)
    asked = ItemGrader(chosen.grader, chosen.scale, _find_store(store))

    async def score(state: TaskState, target: Target) -> Score:
        graded = await asked.grade(_read_item(state, target))
        found = aggregate_verdicts(graded.verdicts, chosen.scale, aggregation)
        return _as_score(graded, found, chosen.grader, aggregation)

    return score


def _find_store(store: str | None) -> str:
    if store is None:
        return os.environ.get("AUTORATER_STORE") or _DEFAULT_STORE
    address = parse_place(store).address
    if address is not None and address.password is not None:
        raise SpecError(
            "autorater/grader: store: an address with a password, which Inspect would write into its log; "
            "expected it in AUTORATER_STORE"
        )
    return store


def _read_item(state: TaskState, target: Target) -> Item:
    told = list(target) or [""]
    return Item(
        item_id=f"{state.sample_id}/{state.epoch}",
        question=state.input_text,
        reference=parse_reference(told[0], told[1:]),
        response=state.output.completion,
        cluster_id=str((state.metadata or {}).get("cluster_id", state.sample_id)),
        respondent=str(state.model),
    )


def _as_score(graded: GradedItem, found: Aggregate, asked: Grader, aggregation: Aggregation) -> Score:
    answer, told = graded.item.response, _describe(found, aggregation)
    metadata = _metadata(graded, found, asked, aggregation)
    if found.value is None:
        return Score.unscored(reason=found.unscored, answer=answer, explanation=told, metadata=metadata)
    return Score(value=found.value, answer=answer, explanation=told, metadata=metadata)


def _metadata(graded: GradedItem, found: Aggregate, asked: Grader, aggregation: Aggregation) -> dict[str, Any]:
    return {
        "grader": asked.title,
        "grader_id": asked.grader_id,
        "prompt_digest": asked.prompt.digest if asked.prompt else None,
        "model": asked.model,
        "sampling": {**asked.sampling.as_settings(), "repeats": asked.sampling.repeats},
        "aggregation": aggregation,
        "item_digest": graded.item.digest,
        "label": found.label,
        "tied": list(found.tied),
        "counts": dict(found.counts),
        "failures": dict(found.failures),
        "verdicts": [
            {
                "repeat": verdict.repeat,
                "label": verdict.label,
                "failure": verdict.failure,
                "detail": verdict.detail,
                "reply": reply,
            }
            for verdict, reply in zip(graded.verdicts, graded.replies, strict=True)
        ],
    }


def _describe(found: Aggregate, aggregation: Aggregation) -> str:
    """``majority of 3 verdicts: CORRECT 2, INCORRECT 1; without a label: unparsed 1``."""
    n = sum(found.counts.values())
    told = f"{aggregation} of {n} verdict{'' if n == 1 else 's'}: {_listed(found.counts) or 'none'}"
    failed = f"; without a label: {_listed(found.failures)}" if found.failures else ""
    return told + failed + (f"; tied: {', '.join(found.tied)}" if found.unscored == "tied" else "")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())
