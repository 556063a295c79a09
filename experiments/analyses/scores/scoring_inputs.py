"""What a corrected score rests on: responses with a grader's verdicts, and that grader's verdicts on labelled items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from experiments.analyses.graded_samples import GradedSample, find_graded, read_graded_samples
from experiments.analyses.partial_answers import merge_partial_answers
from experiments.analyses.right_label import right_label
from experiments.analyses.scores.question_names import name_questions
from experiments.analyses.scores.scoring_raters import Raters, read_raters
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from experiments.reports.label_words import LabelWords, label_words
from experiments.reports.reference_labels import drop_stale_labels
from experiments.reports.sample import Sample
from experiments.stats.correction import GradedItems, LabelledItems

__all__ = [
    "NOT_NAMED",
    "Benchmark",
    "Calibration",
    "GraderChoice",
    "Respondent",
    "read_benchmark",
    "read_scoring",
]

NOT_NAMED = "(not named)"
"""The respondent of items that name none."""

NOT_ATTEMPTED = "NOT_ATTEMPTED"


@dataclass(frozen=True)
class GraderChoice:
    """Which grader of the benchmark's run, which of the calibration's, and whether they may differ."""

    benchmark: str | None = None
    calibration: str | None = None
    other_assumed: bool = False


@dataclass(frozen=True)
class Respondent:
    """One respondent's items with the grader's verdicts; ``questions`` (n,) are the same names in all samples."""

    name: str
    sample: Sample
    questions: tuple[str, ...]

    @property
    def graded(self) -> GradedItems:
        """The items as the statistics take them."""
        return GradedItems(self.sample.counts, self.questions)


@dataclass(frozen=True)
class Benchmark:
    """Responses of one or more respondents, judged by one grader, with no need of people's labels.

    ``correct`` is the label of a right answer, ``not_attempted`` that of no attempt or ``None``. ``computed`` says that
    each item's verdict is the likeliest label of a computed distribution.
    """

    run_id: str
    set_title: str
    grader: str
    grader_id: str
    scale: LabelScale
    correct: str
    not_attempted: str | None
    computed: bool
    respondents: tuple[Respondent, ...]

    @property
    def n_items(self) -> int:
        """Items of all respondents."""
        return sum(one.sample.n_items for one in self.respondents)

    @property
    def n_questions(self) -> int:
        """Questions of all respondents together."""
        return len({question for one in self.respondents for question in one.questions})


@dataclass(frozen=True)
class Calibration:
    """Labelled items that the same grader judged, or another whose errors are assumed to be the same.

    ``stale``, ``tied`` and ``unlabelled`` count items of the run that give no label: its label is of another text, its
    people were divided, or nobody labelled it. ``rubric`` is that of the labels, ``grader_rubric`` the grader's;
    ``words`` say whose labels they are, ``raters`` who gave them.
    """

    run_id: str
    set_title: str
    grader: str
    same_grader: bool
    rubric: str
    grader_rubric: str
    words: LabelWords
    sample: Sample
    questions: tuple[str, ...]
    raters: Raters
    stale: int
    tied: int
    unlabelled: int

    @property
    def labelled(self) -> LabelledItems:
        """The items as the statistics take them."""
        return LabelledItems(self.sample.labels_given, self.sample.counts, self.questions)

    @property
    def label_of(self) -> Mapping[str, str]:
        """Item digest to people's label."""
        given = zip(self.sample.items, self.sample.labels_given, strict=True)
        return {item.digest: label for item, label in given}


def read_scoring(
    benchmarks: Sequence[RunData], calibration: RunData | None, choice: GraderChoice
) -> tuple[tuple[Benchmark, ...], Calibration | None]:
    """Benchmarks and calibration with one grader, their questions named alike; partial answers are not attempts.

    Parameters
    ----------
    benchmarks
        The run that is scored, and others that it is compared with.
    calibration
        The run with people's labels, or ``None``.
    choice
        Which grader is meant.

    Raises
    ------
    SpecError
        The grader is not one of a run's, judged only one of the runs and no other is assumed to be like it, the
        scales differ, or two benchmarks are the same items.
    """
    benchmarks = [merge_partial_answers(data) for data in benchmarks]
    calibration = None if calibration is None else merge_partial_answers(calibration)
    graded = [read_graded_samples(data) for data in benchmarks]
    known = () if calibration is None else read_graded_samples(calibration)
    chosen, judge = _choose(graded, known, choice)
    for one in chosen[1:]:
        _check_other_items(chosen[0], one)
    items = [one.sample.items for one in chosen]
    names = name_questions([*items, *([] if judge is None else [judge.sample.items])])
    read = tuple(
        _read_benchmark(data, one, questions) for data, one, questions in zip(benchmarks, chosen, names, strict=False)
    )
    if calibration is None or judge is None:
        return read, None
    _check_scale(read, judge.sample.scale)
    return read, _read_calibration(calibration, judge, names[-1], read[0].grader_id)


def read_benchmark(data: RunData, grader: str | None = None) -> Benchmark:
    """A benchmark by itself, without anything to correct it by."""
    return read_scoring([data], None, GraderChoice(grader))[0][0]


def _choose(
    graded: Sequence[Sequence[GradedSample]], known: Sequence[GradedSample], choice: GraderChoice
) -> tuple[list[GradedSample], GradedSample | None]:
    """The grader in each benchmark, and in the calibration."""
    ids = {one.results.grader_id for one in known}
    candidates = [one for one in graded[0] if one.results.grader_id in ids] or graded[0]
    first = find_graded(graded[0] if choice.benchmark else candidates, choice.benchmark)
    others = [_same_in(first, part) for part in graded[1:]]
    if not known:
        return [first, *others], None
    if choice.calibration is not None:
        judge = find_graded(known, choice.calibration, option="--calibration-grader")
    else:
        same = [one for one in known if one.results.grader_id == first.results.grader_id]
        judge = same[0] if same else _assumed(first, known, choice)
    if judge.results.grader_id != first.results.grader_id and not (choice.other_assumed and choice.benchmark):
        raise _other_grader(first, known)
    return [first, *others], judge


def _same_in(grader: GradedSample, graded: Sequence[GradedSample]) -> GradedSample:
    for one in graded:
        if one.results.grader_id == grader.results.grader_id:
            return one
    names = [one.name for one in graded]
    raise SpecError(
        f"--against {graded[0].run_id if graded else 'run'}: graded by {names}; expected {grader.name} with the same "
        "prompt, model and sampling"
    )


def _check_other_items(first: GradedSample, other: GradedSample) -> None:
    """One grader's verdicts on the same items are the same verdicts, in whatever run: all differences would be 0."""
    one, two = ({item.digest for item in sample.sample.items} for sample in (first, other))
    if one == two:
        raise SpecError(
            f"--against {other.run_id}: the same items and verdicts as {first.run_id}; expected a run of another set, "
            "or of other responses"
        )


def _assumed(grader: GradedSample, known: Sequence[GradedSample], choice: GraderChoice) -> GradedSample:
    if not (choice.other_assumed and choice.benchmark):
        raise _other_grader(grader, known)
    alike = [one for one in known if one.name == grader.name]
    return alike[0] if alike else find_graded(known, None, option="--calibration-grader")


def _other_grader(grader: GradedSample, known: Sequence[GradedSample]) -> SpecError:
    return SpecError(
        f"--calibration {known[0].run_id}: judged by {[one.name for one in known]}, not by {grader.name} with the same "
        "prompt, model and sampling (imported verdicts are a grader of their own in each run); expected that grader, "
        "or --grader NAME with --other-grader-assumed"
    )


def _read_benchmark(data: RunData, graded: GradedSample, questions: Sequence[str]) -> Benchmark:
    sample, scale = graded.sample, graded.sample.scale
    names = sorted({_respondent(item) for item in sample.items})
    return Benchmark(
        run_id=data.run_id,
        set_title=_title(data),
        grader=graded.name,
        grader_id=graded.results.grader_id,
        scale=scale,
        correct=right_label(scale, f"run {data.run_id}"),
        not_attempted=NOT_ATTEMPTED if NOT_ATTEMPTED in scale else None,
        computed=graded.results.distributions is not None,
        respondents=tuple(_take_respondent(name, sample, questions) for name in names),
    )


def _take_respondent(name: str, sample: Sample, questions: Sequence[str]) -> Respondent:
    keep = [_respondent(item) == name for item in sample.items]
    own = tuple(question for question, kept in zip(questions, keep, strict=True) if kept)
    return Respondent(name, sample.take(keep), own)


def _read_calibration(data: RunData, judge: GradedSample, questions: Sequence[str], grader_id: str) -> Calibration:
    consensus, reference = judge.labels.consensus, judge.sample.reference
    fresh, stale = drop_stale_labels(data.calibration_set)
    return Calibration(
        run_id=data.run_id,
        set_title=_title(data),
        grader=judge.name,
        same_grader=judge.results.grader_id == grader_id,
        rubric=judge.labels.rubric,
        grader_rubric=judge.labels.grader_rubric,
        words=label_words({"label_source": data.calibration_set.label_source}),
        sample=judge.sample.labelled,
        questions=tuple(name for name, label in zip(questions, reference, strict=True) if label is not None),
        raters=read_raters(fresh, judge, questions),
        stale=stale,
        tied=len(consensus.tied),
        unlabelled=len(consensus.unlabelled),
    )


def _check_scale(benchmarks: Sequence[Benchmark], scale: LabelScale) -> None:
    for benchmark in benchmarks:
        if set(benchmark.scale.labels) != set(scale.labels) or benchmark.scale.positive != scale.positive:
            raise SpecError(
                f"--calibration: scale {list(scale.labels)}; expected the benchmark's {list(benchmark.scale.labels)}"
            )
        if benchmark.scale.labels != scale.labels:
            raise SpecError(
                f"--calibration: labels in the order {list(scale.labels)}; expected {list(benchmark.scale.labels)}"
            )


def _respondent(item: Item) -> str:
    return item.respondent or NOT_NAMED


def _title(data: RunData) -> str:
    return f"{data.calibration_set.name} {data.calibration_set.version}"
