"""Runs as the store keeps them, and back: everything a report needs, without files or models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.scale import LabelScale
from experiments.errors import SpecError
from experiments.reports.inputs import GraderResults, RunData
from experiments.respondents.records import AnsweringRecord
from experiments.specs.decisions import DecisionSpecs
from experiments.specs.experiment import Analyses, Experiment
from experiments.specs.grader_reading import GraderReading, GraderRecord, read_grader
from experiments.specs.grader_sources import dump_grader
from experiments.specs.official_rule import answers_by_letter
from experiments.store.run_descriptions import describe_run
from experiments.store.run_store import RunRecord, RunStore
from experiments.store.set_snapshot import dump_set, load_set
from graders.grader import Grader
from graders.support import warnings_of
from graders.verdict import ParserRule, Verdict

__all__ = ["GraderRecord", "load_decisions", "load_run_data", "record_run", "results_of", "rule_of", "write_run"]


_Read = tuple[GraderResults, Sequence[Verdict] | None]


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rule that verdicts are read by, and whether those of the official one are wanted beside."""

    rule: ParserRule
    compare: bool


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
        decisions=experiment.decisions,
        answering=None if experiment.answering is None else experiment.answering.record,
        sources=[dump_grader(grader) for grader in experiment.graders],
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
        price=None if grader.capabilities.price is None else asdict(grader.capabilities.price),
        notes=warnings_of(grader),
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
    decisions: DecisionSpecs | None = None,
    answering: AnsweringRecord | None = None,
    sources: Sequence[Mapping[str, Any] | None] | None = None,
) -> None:
    """Store the description of a run together with the set that it judges; ``sources`` rebuild its graders."""
    payload: dict[str, Any] = {
        "name": name,
        "n_items_in_set": n_items_in_set,
        "set_digest": set_digest,
        "set": f"{calibration_set.name} {calibration_set.version}",
        "n_items": len(calibration_set.items),
        "graders": [asdict(grader) for grader in graders],
        "analyses": asdict(analyses),
    }
    if decisions is not None and decisions != DecisionSpecs():
        payload["decisions"] = decisions.model_dump(mode="json", by_alias=True, exclude_none=True)
    if answering is not None:
        payload["answering"] = answering.as_plain()
    if sources is not None:
        payload["grader_sources"] = list(sources)
    store.create_run(RunRecord(run_id, payload), dump_set(calibration_set))


def load_decisions(store: RunStore, run: str) -> DecisionSpecs:
    """The rules that were fixed before the run, as its experiment wrote them; empty where it wrote none."""
    return describe_run(store, store.find_run(run)).decisions


def load_run_data(
    store: RunStore, run: str, *, parser: ParserRule | None = None, compare_parsers: bool | None = None
) -> tuple[RunData, Analyses]:
    """Read a run and derive its verdicts; no model is called.

    Parameters
    ----------
    parser, compare_parsers
        Override what the experiment chose.
    """
    about = describe_run(store, store.find_run(run))
    analyses, graders = about.analyses, about.graders
    rule: ParserRule = parser or analyses.parser
    compare = analyses.compare_parsers if compare_parsers is None else compare_parsers
    snapshot = store.load_set_snapshot(about.run_id)
    with store.damage_named(f"the set of run {about.run_id}"):
        calibration_set = load_set(snapshot)
    if compare or rule == "official":
        _check_official(graders)
    read = [_read(store, grader, calibration_set, _Rules(rule, compare)) for grader in graders]
    data = RunData(
        run_id=about.run_id,
        experiment=about.name,
        calibration_set=calibration_set,
        n_items_in_set=about.n_items_in_set,
        set_digest=about.set_digest,
        parser_rule=rule,
        graders=tuple(results for results, _ in read),
        compare_rule=(
            {results.grader_id: others for results, others in read if others is not None} if compare else None
        ),
        answering=about.answering,
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


def _read(store: RunStore, grader: GraderRecord, calibration_set: CalibrationSet, rules: _Rules) -> _Read:
    """A grader's results under the rule that is asked for, and its verdicts under the one it is compared with."""
    by_letter = _answers_by_letter(grader)
    rule = rule_of(grader, rules.rule)
    compared: tuple[ParserRule, ...] = ("official",) if rules.compare and by_letter else ()
    reading = read_grader(store, grader, calibration_set, tuple(dict.fromkeys((rule, *compared))))
    results = results_of(grader, reading, rule)
    return results, reading.verdicts["official"] if compared else None


def results_of(grader: GraderRecord, reading: GraderReading, rule: ParserRule) -> GraderResults:
    """A grader with what was read of it, its verdicts by one rule."""
    return GraderResults(
        grader_id=grader.grader_id,
        prompt=grader.prompt,
        rubric=grader.rubric,
        model=grader.model,
        sampling=grader.sampling,
        effective_sampling=[reading.effective_sampling[key] for key in sorted(reading.effective_sampling)],
        served_models=tuple(sorted(reading.served)),
        verdicts=reading.verdicts[rule],
        usage=reading.usage,
        distributions=reading.distributions if grader.is_exact else None,
        label_logprobs=reading.label_logprobs,
        cost=None if grader.price is None else reading.cost,
        failed_calls=reading.failed_calls,
        served_counts=reading.served,
        fingerprints=reading.fingerprints,
        notes=tuple(grader.notes),
        item_tokens=reading.item_tokens,
        times=reading.times[rule],
    )


def rule_of(grader: GraderRecord, rule: ParserRule) -> ParserRule:
    """The rule that reads a grader's replies where ``rule`` is asked for: the official one needs letters."""
    return rule if _answers_by_letter(grader) else "robust"
