"""Runs as the store keeps them, and back: everything a report needs, without files or models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.scale import LabelScale
from calibration_sets.service_messages import is_service_message
from experiments.errors import SpecError
from experiments.official_rule import answers_by_letter
from experiments.reports.inputs import GraderResults, RunData
from experiments.set_snapshot import dump_set, load_scale, load_set
from experiments.spec import Analyses, Experiment
from experiments.store import CompletionKey, RunRecord, RunStore
from graders.grader import Grader
from graders.parsing import parse_completion, parse_verdict
from graders.sampling import Channel
from graders.verdict import CallFailure, Completion, ParsedVerdict, ParserRule, Usage, Verdict

__all__ = ["GraderRecord", "load_run_data", "record_run", "write_run"]


@dataclass(frozen=True, slots=True)
class GraderRecord:
    """A grader as a run remembers it: enough to read its completions again.

    ``sampling`` holds what was asked, ``repeats`` included; values are ``None`` where an imported
    grader's settings are not known. ``scale`` carries the letters and words of its prompt.
    """

    grader_id: str
    model: str
    prompt: str | None
    rubric: str | None
    channel: Channel
    scale: LabelScale
    sampling: Mapping[str, Any]


def record_run(experiment: Experiment, store: RunStore) -> None:
    """Write down what the experiment asks, before any call."""
    graders = [_describe(grader, experiment.calibration_set.scale) for grader in experiment.graders]
    write_run(
        store,
        run_id=experiment.run_id,
        name=experiment.name,
        calibration_set=experiment.calibration_set,
        n_items_in_set=experiment.n_items_in_set,
        set_digest=experiment.set_digest,
        graders=graders,
        analyses=experiment.analyses,
    )


def _describe(grader: Grader, scale: LabelScale) -> GraderRecord:
    prompt = grader.prompt
    return GraderRecord(
        grader_id=grader.grader_id,
        model=grader.model,
        prompt=prompt.title if prompt else None,
        rubric=prompt.rubric if prompt else None,
        channel=grader.sampling.channel,
        scale=prompt.scale if prompt else scale,
        sampling={**grader.sampling.as_settings(), "repeats": grader.sampling.repeats},
    )


def write_run(
    store: RunStore,
    *,
    run_id: str,
    name: str,
    calibration_set: CalibrationSet,
    n_items_in_set: int,
    set_digest: str,
    graders: Sequence[GraderRecord],
    analyses: Analyses,
) -> None:
    """Store the description of a run together with the set that it judges."""
    payload = {
        "name": name,
        "n_items_in_set": n_items_in_set,
        "set_digest": set_digest,
        "set": f"{calibration_set.name} {calibration_set.version}",
        "n_items": len(calibration_set.items),
        "graders": [asdict(grader) for grader in graders],
        "analyses": asdict(analyses),
    }
    store.create_run(RunRecord(run_id, payload), dump_set(calibration_set))


def load_run_data(
    store: RunStore, run: str, *, parser: ParserRule | None = None, compare_parsers: bool | None = None
) -> tuple[RunData, Analyses]:
    """Read a run and derive its verdicts; no model is called.

    Parameters
    ----------
    parser, compare_parsers
        Override what the experiment chose.
    """
    record = store.find_run(run)
    analyses = Analyses(**record.payload["analyses"])
    rule: ParserRule = parser or analyses.parser
    compare = analyses.compare_parsers if compare_parsers is None else compare_parsers
    calibration_set = load_set(store.load_set_snapshot(record.run_id))
    graders = [_load_grader(fields) for fields in record.payload["graders"]]
    if compare or rule == "official":
        _check_official(graders)
    replies = [_Replies.read(store, grader, calibration_set) for grader in graders]
    data = RunData(
        run_id=record.run_id,
        experiment=record.payload["name"],
        calibration_set=calibration_set,
        n_items_in_set=record.payload["n_items_in_set"],
        set_digest=record.payload["set_digest"],
        parser_rule=rule,
        graders=tuple(_results(entry, rule if _answers_by_letter(entry.grader) else "robust") for entry in replies),
        compare_rule=(
            {entry.grader.grader_id: entry.judge("official") for entry in replies if _answers_by_letter(entry.grader)}
            if compare
            else None
        ),
    )
    return data, analyses


def _check_official(graders: Sequence[GraderRecord]) -> None:
    """The official parser looks for a letter and falls back on that of NOT_ATTEMPTED: without, it says nothing."""
    if not any(map(_answers_by_letter, graders)):
        raise SpecError(
            "parser 'official': no grader answers with letters that include one for NOT_ATTEMPTED; "
            "expected a grader whose prompt asks for a letter, such as simpleqa"
        )


def _answers_by_letter(grader: GraderRecord) -> bool:
    return answers_by_letter(grader.model, grader.channel, grader.scale, has_prompt=grader.prompt is not None)


@dataclass(frozen=True, slots=True)
class _Replies:
    """What one grader answered to each key that the run expects."""

    grader: GraderRecord
    keys: Sequence[CompletionKey]
    completions: Mapping[CompletionKey, Completion]
    failures: Mapping[CompletionKey, CallFailure]

    @classmethod
    def read(cls, store: RunStore, grader: GraderRecord, calibration_set: CalibrationSet) -> _Replies:
        digests = dict.fromkeys(item.digest for item in calibration_set.items)
        keys = [CompletionKey(digest, repeat) for digest in digests for repeat in range(grader.sampling["repeats"])]
        stored = store.completions(grader.grader_id)
        completions = {key: stored[key] for key in keys if key in stored}
        messages = {item.digest for item in calibration_set.items if is_service_message(item)}
        unasked = {key: CallFailure("service_message", "") for key in keys if key.item_digest in messages}
        return cls(grader, keys, completions, {**store.call_failures(grader.grader_id), **unasked})

    def judge(self, rule: ParserRule) -> Sequence[Verdict]:
        return [_judge(self.grader, key, self.completions.get(key), self.failures.get(key), rule) for key in self.keys]


def _results(replies: _Replies, rule: ParserRule) -> GraderResults:
    grader, used = replies.grader, list(replies.completions.values())
    return GraderResults(
        grader_id=grader.grader_id,
        prompt=grader.prompt,
        rubric=grader.rubric,
        model=grader.model,
        sampling=grader.sampling,
        effective_sampling=_distinct([_settings(completion) for completion in used]),
        served_models=tuple(sorted({completion.served_model for completion in used})),
        verdicts=replies.judge(rule),
        usage=_total([completion.usage for completion in used]),
    )


def _total(usages: Sequence[Usage]) -> Usage | None:
    """Tokens summed where the service told them; ``None`` for a count that was never told."""
    totals = {
        name: sum(counts)
        if (counts := [value for usage in usages if (value := getattr(usage, name)) is not None])
        else None
        for name in ("input_tokens", "output_tokens", "cached_tokens")
    }
    return Usage(**totals) if any(total is not None for total in totals.values()) else None


def _settings(completion: Completion) -> Mapping[str, Any]:
    """The effective sampling without the seed, which differs from call to call on purpose."""
    return {name: value for name, value in completion.effective_sampling.items() if name != "seed"}


def _distinct(settings: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    seen = {repr(sorted(entry.items())): entry for entry in settings if entry}
    return tuple(seen[key] for key in sorted(seen))


def _judge(
    grader: GraderRecord,
    key: CompletionKey,
    completion: Completion | None,
    failure: CallFailure | None,
    rule: ParserRule,
) -> Verdict:
    if completion is None:
        detail = failure.reason if failure else "not_asked"
        return Verdict(key.item_digest, grader.grader_id, key.repeat, None, "not_answered", rule, detail)
    if completion.stated_failure is not None:
        parsed = ParsedVerdict(None, completion.stated_failure, "label", "stated with the reply")
    elif completion.stated_label is not None:
        parsed = parse_verdict(completion.stated_label, grader.scale, rule="label")
    else:
        parsed = parse_completion(completion, grader.scale, grader.channel, rule=rule)
    return Verdict(
        key.item_digest, grader.grader_id, key.repeat, parsed.label, parsed.failure, parsed.rule, parsed.evidence
    )


def _load_grader(fields: Mapping[str, Any]) -> GraderRecord:
    return GraderRecord(**{**fields, "scale": load_scale(fields["scale"])})
