"""What a scoring rests on: which grader, which scale, whose responses, which questions are the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from score_runs import SIMPLEQA, Answer, decision, draw, page, run, scored, with_grader

from calibration_sets.scale import BINARY
from experiments.analyses.scores.scoring_inputs import NOT_NAMED, GraderChoice, read_benchmark
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from graders.exact import VerdictDistribution


@pytest.fixture(scope="module")
def answers() -> tuple[list[Answer], list[Answer]]:
    easy = {"good": (0.2, 0.1, 0.7), "fair": (0.35, 0.15, 0.5)}
    return draw(1, 400, easy, repeats=2), draw(2, 300, {"good": (0.35, 0.15, 0.5)}, prefix="c", repeats=2)


def test_another_grader_is_refused_in_one_line(answers: tuple[list[Answer], list[Answer]]) -> None:
    bench = run("bench", answers[0], labels=False)
    other = with_grader(run("cal", answers[1]), grader_id="g2", model="made/other")
    refused = [
        GraderChoice(),
        GraderChoice("made/grader"),
        GraderChoice(other_assumed=True),
        GraderChoice("made/grader", "made/other"),
    ]
    for choice in refused:
        with pytest.raises(SpecError) as caught:
            scored(bench, other, grader=choice)
        assert "\n" not in str(caught.value)
        assert str(caught.value) == (
            "--calibration cal-run: judged by ['made/other'], not by made/grader with the same prompt, model and "
            "sampling (imported verdicts are a grader of their own in each run); expected that grader, "
            "or --grader NAME with --other-grader-assumed"
        )
    found = scored(bench, other, grader=GraderChoice("made/grader", other_assumed=True))
    assert found.calibration is not None
    assert not found.calibration.same_grader
    assert "That made/other errs as made/grader does is assumed by who asked for this page." in decision(found)
    assert "It is not the grader of the benchmark" in page(found)


def two_graders(data: RunData, *ids: str) -> RunData:
    (first,) = data.graders
    both = [with_grader(data, grader_id=one, model=f"made/{one}").graders[0] for one in ids]
    assert first.grader_id
    return replace(data, graders=both)


def test_the_grader_that_both_runs_have_is_taken(answers: tuple[list[Answer], list[Answer]]) -> None:
    bench = two_graders(run("bench", answers[0], labels=False), "g1", "g2")
    known = two_graders(run("cal", answers[1]), "g2", "g3")
    found = scored(bench, known)
    assert (found.benchmark.grader, found.benchmark.grader_id) == ("made/g2", "g2")
    assert found.calibration is not None
    assert (found.calibration.grader, found.calibration.same_grader) == ("made/g2", True)


def test_of_several_graders_one_must_be_named(answers: tuple[list[Answer], list[Answer]]) -> None:
    bench = two_graders(run("bench", answers[0], labels=False), "g1", "g2")
    known = two_graders(run("cal", answers[1]), "g1", "g2")
    with pytest.raises(
        SpecError, match=r"--grader: 2 graders in run bench-run; expected one of \['made/g1', 'made/g2'"
    ):
        scored(bench, known)
    assert scored(bench, known, grader=GraderChoice("made/g2")).benchmark.grader_id == "g2"
    with pytest.raises(SpecError, match="--grader: 'nobody'"):
        scored(bench, known, grader=GraderChoice("nobody"))
    with pytest.raises(SpecError, match="--calibration-grader: 'nobody'"):
        scored(bench, known, grader=GraderChoice("made/g2", "nobody", True))


def test_another_scale_is_refused(answers: tuple[list[Answer], list[Answer]]) -> None:
    two = draw(3, 50, {"x": (0.4, 0.6)}, scale=BINARY)
    with pytest.raises(SpecError, match="--calibration: scale"):
        scored(run("bench", answers[0], labels=False), run("cal", two, scale=BINARY))
    turned = replace(SIMPLEQA, labels=SIMPLEQA.labels[::-1])
    with pytest.raises(SpecError, match="labels in the order"):
        scored(run("bench", answers[0], labels=False), run("cal", answers[1], scale=turned))


def test_items_without_a_respondent_are_one(answers: tuple[list[Answer], list[Answer]]) -> None:
    unnamed = [replace(answer, respondent=None) for answer in answers[0] if answer.respondent == "good"]
    (one,) = read_benchmark(run("bench", unnamed, labels=False)).respondents
    assert (one.name, one.sample.n_items) == (NOT_NAMED, 400)


def test_questions_are_the_same_by_their_text_and_not_by_their_names(
    answers: tuple[list[Answer], list[Answer]],
) -> None:
    bench = run("bench", answers[0], labels=False)
    known = run("cal", answers[0][:100])
    assert scored(bench, known).respondents[0].shared_questions == 50
    items = [replace(item, question=f"other {item.question}") for item in known.calibration_set.items]
    digests = {old.digest: new.digest for old, new in zip(known.calibration_set.items, items, strict=True)}
    labels = [replace(one, item_digest=digests[one.item_digest]) for one in known.calibration_set.human_labels]
    grader = known.graders[0]
    verdicts = [replace(one, item_digest=digests[one.item_digest]) for one in grader.verdicts]
    renamed = replace(
        known,
        calibration_set=replace(known.calibration_set, items=tuple(items), human_labels=tuple(labels)),
        graders=[replace(grader, verdicts=verdicts)],
    )
    assert scored(bench, renamed).respondents[0].shared_questions == 0


def test_stale_labels_are_left_out_and_counted(answers: tuple[list[Answer], list[Answer]]) -> None:
    known = run("cal", answers[1])
    first, *others = known.calibration_set.human_labels
    stale = replace(known.calibration_set, human_labels=(replace(first, item_digest="old"), *others))
    found = scored(run("bench", answers[0], labels=False), replace(known, calibration_set=stale))
    assert found.calibration is not None
    assert (found.calibration.stale, found.calibration.sample.n_items) == (1, 299)
    assert "left out: 1 label of a text that has changed" in " ".join(page(found).split())


def test_a_grader_of_computed_distributions_is_read_by_its_likeliest_label(
    answers: tuple[list[Answer], list[Answer]],
) -> None:
    def computed(data: RunData) -> RunData:
        (results,) = data.graders
        likely = [verdict for verdict in results.verdicts if verdict.repeat == 0]
        chances = {
            one.item_digest: VerdictDistribution(
                one.item_digest, {label: 0.8 if label == one.label else 0.1 for label in SIMPLEQA.labels}
            )
            for one in likely
        }
        sampling = {"repeats": 10, "method": "exact", "temperature": 1.0}
        return replace(data, graders=[replace(results, verdicts=likely, distributions=chances, sampling=sampling)])

    runs = computed(run("bench", answers[0], labels=False)), computed(run("cal", answers[1]))
    found = scored(*runs)
    assert found.benchmark.computed
    assert "Verdicts are the likeliest label of each item's computed distribution." in " ".join(page(found).split())
    single = [[replace(one, verdicts=one.verdicts[:1]) for one in part] for part in answers]
    direct = scored(run("bench", single[0], labels=False), run("cal", single[1]))
    assert [one.correction for one in found.respondents] == [one.correction for one in direct.respondents]
