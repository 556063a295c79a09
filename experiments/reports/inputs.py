"""What a report is built from: plain data, read from the store by somebody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from experiments.reports.call_times import GraderTimes
from experiments.respondents.records import AnsweringRecord
from graders.exact import VerdictDistribution
from graders.pricing import Cost
from graders.verdict import Usage, Verdict

__all__ = ["GraderResults", "RunData"]


@dataclass(frozen=True)
class GraderResults:
    """One grader and all that it said in a run.

    Parameters
    ----------
    grader_id
        Identity of prompt, model and sampling.
    prompt
        Title of the prompt (``name@version#digest``), or ``None`` for graders without one.
    rubric
        ``name@version`` of the rules that the prompt states; ``None`` stands for the set's own.
    model
        ``provider/name`` as it was asked for.
    sampling
        Settings as asked: temperature, repeats, seed, max_tokens, channel, constrained.
    effective_sampling
        The distinct settings that were really in force, in any order.
    served_models
        The distinct models that the service says have answered, in any order.
    verdicts
        One for each expected pair of item digest and repeat; a call without a reply is a verdict
        with the failure ``not_answered``. A pair that is absent counts as ``not_answered`` too.
    usage
        Total of tokens; ``None`` where nothing is known.
    distributions
        For a grader whose repeats are computed: item digest to its distribution of verdicts;
        ``verdicts`` then holds each item's likeliest label.
    label_logprobs
        Item digest to the log-probabilities of its labels, where the grader gives them.
    cost
        Of all completions and failed calls of the run; ``None`` where the model had no price.
    failed_calls
        Calls that went wrong, by reason, whether or not a later one succeeded.
    served_counts, fingerprints
        Completions by the model that answered, and by the state of its backend.
    item_tokens
        Item digest to the tokens of its completions, read and written, where they are known.
    notes
        What was to be known of the model when the run was recorded.
    times
        How long its calls took, as far as that is known.
    """

    grader_id: str
    prompt: str | None
    rubric: str | None
    model: str
    sampling: Mapping[str, Any]
    effective_sampling: Sequence[Mapping[str, Any]]
    served_models: Sequence[str]
    verdicts: Sequence[Verdict]
    usage: Usage | None = None
    distributions: Mapping[str, VerdictDistribution] | None = None
    label_logprobs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    cost: Cost | None = None
    failed_calls: Mapping[str, int] = field(default_factory=dict)
    served_counts: Mapping[str, int] = field(default_factory=dict)
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    item_tokens: Mapping[str, int] = field(default_factory=dict)
    times: GraderTimes = field(default_factory=GraderTimes)


@dataclass(frozen=True)
class RunData:
    """A run: the items that it is about, people's labels of them, and each grader's verdicts.

    Parameters
    ----------
    run_id, experiment
        Names of the run and of its experiment.
    calibration_set
        The set, or the part of it that the run selected.
    n_items_in_set
        Items of the whole set.
    parser_rule
        Name of the parser that read the verdicts.
    graders
        In the order in which they are reported.
    compare_rule
        For some or all grader ids: verdicts that another parser reads in the same completions;
        ``None`` where parsers are not compared.
    set_digest
        Digest of the whole set where ``calibration_set`` is a part of it; ``None`` where it is whole.
    answering
        Who gave the responses, where the run itself asked for them; such a run has no labels.
    """

    run_id: str
    experiment: str
    calibration_set: CalibrationSet
    n_items_in_set: int
    parser_rule: str
    graders: Sequence[GraderResults]
    compare_rule: Mapping[str, Sequence[Verdict]] | None = None
    set_digest: str | None = None
    answering: AnsweringRecord | None = None
