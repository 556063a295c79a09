"""What is decided on runs of rubric graders: done rightly, or refused with what there is in its place."""

from __future__ import annotations

import csv
import html
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Ran, autorater, decision_of
from hypothesis import given, settings
from hypothesis import strategies as st
from review_pages import open_client, open_desk, page_of, send
from rubric_server import Say, steps_near
from rubric_studies import made_set, run_study

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.scale import DER2_RUBRIC, OMNISCIENCE, SCALES
from experiments.analyses.completing import complete_sample
from experiments.analyses.gates.drift import find_drift
from experiments.analyses.gates.drift_page import drift_document
from experiments.analyses.gates.gate_rules import NotWorse, Rule, parse_not_worse, parse_rule
from experiments.analyses.graded_samples import read_graded_samples
from experiments.analyses.measuring import measure
from experiments.analyses.partial_answers import merge_partial_answers
from experiments.analyses.queues.queueing import draw_queue
from experiments.analyses.queues.ranking import Suspicion, rank_items
from experiments.analyses.score_values import SCORE_MEASURES, score_values
from experiments.errors import SpecError
from experiments.reports import RunData, build_report
from experiments.reports.render_text import render_document
from experiments.reports.sample import Sample
from experiments.review.work_list import plan_run_review
from experiments.stats.errors.score_errors import score_error_bounds
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

REFERENCE = ("Energy is kept", "Drag is left out")
NO_RIGHT = ("der2_rubric", "der2_concepts", "der2_errors")


def say_letter(truth: str, chance: random.Random) -> str:
    letters = OMNISCIENCE.letters
    return chance.choice(list(letters.values())) if chance.random() < 0.2 else letters[truth]


def say_surely(truth: str, chance: random.Random) -> str:
    right = chance.random() < 0.8
    return f"verdict: {'yes' if (truth == 'CORRECT') == right else 'no'}\nconfidence: 95"


def say_reasons(truth: str, chance: random.Random) -> str:
    told = truth.replace(" + ", ", ") if chance.random() < 0.8 else "FORMAL"
    return "It is hard to say." if chance.random() < 0.1 else f"It began early.\nreasons: {told}"


def say_concepts(truth: str, chance: random.Random) -> str:
    used = {"ALL": REFERENCE, "SOME": REFERENCE[:1], "NONE": ()}["SOME" if chance.random() < 0.2 else truth]
    missing = [one for one in REFERENCE if one not in used]
    counts = {"true_positives": len(used), "false_negatives": len(missing), "false_positives": 0}
    return json.dumps({"used": list(used), "missing": missing, "foreign": [], **counts})


LABELS = {
    "der2_rubric": list(DER2_RUBRIC.labels),
    "omniscience": ["CORRECT", "INCORRECT", "NOT_ATTEMPTED", "PARTIAL_ANSWER"],
    "yes_no_confidence": ["CORRECT", "INCORRECT"],
    "der2_concepts": ["ALL", "SOME", "NONE", "SOME"],
    "der2_errors": ["PROCESS", "FORMAL", "MISSING + MISUSED", "PROCESS + MISSING"],
}
SAID: Mapping[str, Say] = {
    "der2_rubric": steps_near,
    "omniscience": say_letter,
    "yes_no_confidence": say_surely,
    "der2_concepts": say_concepts,
    "der2_errors": say_reasons,
}
GRADERS = list(LABELS)
PLACES = st.integers(0, 4)
ROWS = st.lists(st.tuples(PLACES, st.lists(PLACES, max_size=3)), min_size=1, max_size=6)
ROWS_WITH_VERDICTS = st.lists(st.tuples(PLACES, st.lists(PLACES, min_size=1, max_size=3)), min_size=1, max_size=6)
HEADLINES = {
    "der2_rubric": r"mean absolute error 0\.\d{3} \[.*mean error \(bias\) [+-]0\.\d{3} .*agreement with people \d.*"
    r"weighted kappa 0\.\d{3}",
    "omniscience": r"false negatives \d.*; false positives \d",
    "yes_no_confidence": r"false negatives \d.*; false positives \d",
    "der2_concepts": r"agreement with people \d.*, weighted kappa 0\.\d{3} \[",
    "der2_errors": r"agreement with people \d.*, alpha of sets \(MASI distance\) 0\.\d{3} \[",
}


def set_of(name: str) -> CalibrationSet:
    scale = name if name in SCALES else "binary"
    return made_set(scale, LABELS[name] * (24 // len(LABELS[name])), respondents="st", reference="\n".join(REFERENCE))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each grader, with a run of it and a later one that erred a little otherwise."""
    whole = tmp_path_factory.mktemp("rubrics")
    for name in GRADERS:
        (whole / name).mkdir()
        run_study(whole / name, set_of(name), name, SAID[name])
    run_study(
        whole / "der2_rubric", set_of("der2_rubric"), "der2_rubric", lambda *_: "It agrees.\nscore: 1", name="lenient"
    )
    return whole


def said(folder: Path, name: str, *words: str) -> Ran:
    return autorater(folder / name, *words, "--store", "runs.sqlite")


def load(folder: Path, name: str, run: str = "study") -> RunData:
    with RunStore(folder / name / "runs.sqlite") as store:
        return load_run_data(store, run)[0]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("der2_rubric", "text"),
        *((name, form) for form in ("md", "json") for name in GRADERS),
        *((name, "html") for name in NO_RIGHT),
        *(pytest.param(name, "html", marks=pytest.mark.slow) for name in ("omniscience", "yes_no_confidence")),
    ],
)
def test_every_form_of_the_report_is_written(folder: Path, name: str, form: str) -> None:
    ran = said(folder, name, "report", "study", "--format", form, "--out", f"report.{form}")
    assert ran.code == 0, ran.err
    text = (folder / name / f"report.{form}").read_text(encoding="utf-8")
    if form == "json":
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))
    if form == "html":
        plain = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
        headline = plain.partition("openai-compatible/judge: ")[2].partition(" Set made 1.0.0")[0]
        assert re.match(HEADLINES[name], headline), headline
        assert "not defined" not in headline
        assert ("Under-graded and over-graded by grader" in plain) == (name == "der2_rubric")


@pytest.mark.parametrize(
    ("name", "command"),
    [*(("der2_rubric", one) for one in ("score", "choose", "ab", "plan")), *((one, "score") for one in NO_RIGHT[1:])],
)
def test_what_needs_a_right_label_is_refused_with_what_there_is(folder: Path, name: str, command: str) -> None:
    options = {
        "score": ["score", "study", "--calibration", "study"],
        "choose": ["choose", "study"],
        "ab": ["ab", "study"],
        "plan": ["plan", "labels", "--run", "study", "--of", "false_negative_rate", "--half-width", "0.03"],
    }
    ran = said(folder, name, *options[command])
    assert (ran.code, ran.out) == (2, "")
    assert f"no label counts as right on the scale '{name}'" in ran.err
    assert "'autorater report'" in ran.err
    assert ("mean_absolute_error" in ran.err) == (name == "der2_rubric")


@pytest.mark.parametrize("name", ["omniscience", "yes_no_confidence"])
def test_a_choice_and_scores_where_a_label_is_right(folder: Path, name: str) -> None:
    assert "is the run's only grader" in decision_of(said(folder, name, "choose", "study"))
    assert said(folder, name, "score", "study", "--calibration", "study").code == 0


def test_a_partial_answer_is_neither_right_nor_wrong_in_scores(folder: Path) -> None:
    ran = said(folder, "omniscience", "score", "study", "--format", "json")
    report = build_report(load(folder, "omniscience"))["graders"][0]["omniscience"]
    for one in json.loads(ran.out)["respondents"]:
        expected = report[one["respondent"]]["grader"]
        assert one["as_graded"]["index"]["value"] == pytest.approx(expected["index"]["value"])
        assert one["as_graded"]["incorrect"]["value"] == pytest.approx(expected["incorrect"]["value"])
    page = said(folder, "omniscience", "score", "study").out
    assert "Partial answers count as not attempted" in " ".join(page.split())
    other = load(folder, "yes_no_confidence")
    assert merge_partial_answers(other) is other


@pytest.mark.parametrize("name", GRADERS)
def test_a_queue_is_drawn_and_labelled_on_the_page(folder: Path, name: str, tmp_path: Path) -> None:
    data = load(folder, name)
    queue = draw_queue(read_graded_samples(data), most=6, random_share=0.5, seed=1)
    assert queue.n_ranked + queue.n_random == 6
    plan = plan_run_review(queue, data.calibration_set, name="study", double_share=0.0)
    client = open_client(open_desk(tmp_path, plan))
    page = page_of(client)
    last = data.calibration_set.scale.labels[-1]
    assert html.escape(last) in page
    assert "Item 2" in send(client, page, label=last)


Ranked = Callable[..., list[Suspicion]]


@pytest.fixture(scope="module")
def ranked(folder: Path) -> Ranked:
    """Items ranked by graders' verdicts, given as places on the scale of scores."""
    (made,) = read_graded_samples(load(folder, "der2_rubric"))

    def rank(*graders: list[list[int]], people: list[int]) -> list[Suspicion]:
        samples = [scored(list(zip(people, rows, strict=True)), expected=max(map(len, rows))) for rows in graders]
        return rank_items([replace(made, name=f"g{n}", sample=one) for n, one in enumerate(samples)])

    return rank


def strengths(found: list[Suspicion]) -> list[tuple[str, float]]:
    return [(one.item.item_id, one.strength) for one in found]


def test_far_misses_of_scores_are_looked_at_before_near_ones(ranked: Ranked) -> None:
    by_people = ranked([[1], [4], [2], [0]], people=[0, 0, 0, 0])
    assert strengths(by_people) == [("i1", 1), ("i2", 1 / 2), ("i0", 1 / 4)]
    by_repeats = ranked([[0, 1, 0], [0, 4, 0], [3, 3, 3]], people=[0, 0, 3])
    assert strengths(by_repeats) == [("i1", pytest.approx(2 / 3)), ("i0", pytest.approx(2 / 3 / 4))]
    assert by_repeats[0].reason == "g0 contradicts itself, by 67% of the scale on average"
    by_graders = ranked([[1], [0], [2]], [[2], [4], [2]], people=[1, 0, 2])
    assert strengths(by_graders) == [("i1", 1), ("i0", 1 / 4)]
    assert by_graders[0].reason == "graders disagree: g0 0, g1 1"


def test_a_far_miss_comes_before_a_near_contradiction(ranked: Ranked) -> None:
    found = ranked([[2, 2, 3], [4, 4, 4]], people=[2, 0])
    assert [(one.item.item_id, one.tier) for one in found] == [("i1", 3), ("i0", 0)]


@settings(deadline=None)
@given(ROWS_WITH_VERDICTS)
def test_a_scale_turned_round_is_ranked_alike(ranked: Ranked, rows: list[tuple[int, list[int]]]) -> None:
    people, said = [place for place, _ in rows], [places for _, places in rows]
    turned = ranked([[4 - place for place in places] for places in said], people=[4 - place for place in people])
    assert strengths(ranked(said, people=people)) == strengths(turned)


@pytest.mark.parametrize("name", ["der2_rubric", "omniscience"])
def test_rates_of_a_queue_need_a_right_label(folder: Path, name: str) -> None:
    assert said(folder, name, "queue", "study", "--most", "8", "--out", "queue.csv").code == 0
    with (folder / name / "queue.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    truth = set_of(name).consensus().labels
    with (folder / name / "labelled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"label": truth[row["item_id"]]} for row in rows)
    ran = said(folder, name, "queue", "rates", "labelled.csv")
    if name == "omniscience":
        assert ran.code == 0, ran.err
    else:
        assert (ran.code, ran.out) == (2, "")
        assert "no label counts as right" in ran.err


@pytest.mark.parametrize("name", GRADERS)
def test_a_grader_does_not_drift_from_itself(folder: Path, name: str) -> None:
    (graded,) = read_graded_samples(load(folder, name))
    found = find_drift(graded, graded, level=0.95)
    assert found.outcome == "pass"
    rates = {
        "der2_rubric": ["under_grading", "over_grading"],
        "omniscience": ["false_negative_rate", "false_positive_rate"],
        "yes_no_confidence": ["false_negative_rate", "false_positive_rate"],
    }
    assert [one.name for one in found.rates] == [*rates.get(name, []), "failure_rate"]
    assert "NO SHIFT SHOWN" in render_document(drift_document(found))


def test_a_grader_that_became_lenient_has_drifted(folder: Path) -> None:
    ran = said(folder, "der2_rubric", "drift", "study", "lenient")
    assert ran.code == 1
    text = " ".join(ran.out.split())
    assert re.search(r"SHIFT\..*shown for verdicts beyond repeats, over_grading", text)
    compared = said(folder, "der2_rubric", "runs", "compare", "study", "lenient")
    assert "over-graded" in compared.out


def test_a_gate_on_the_errors_of_scores(folder: Path) -> None:
    kept = [
        "upper(mean_absolute_error) <= 0.2",
        "upper(bias) <= 0.15",
        "lower(bias) >= -0.15",
        "value(coverage) >= 0.8",
    ]
    rules = [word for rule in [*kept, "lower(kappa) >= 0.3"] for word in ("--rule", rule)]
    ran = said(folder, "der2_rubric", "gate", "study", *rules)
    assert ran.code == 0, ran.out
    errors = build_report(load(folder, "der2_rubric"))["graders"][0]["score_errors"]
    assert f"{errors['bias']['value']:+.3f} [" in ran.out
    lenient = said(folder, "der2_rubric", "gate", "lenient", "--rule", "upper(bias) <= 0.15")
    assert lenient.code == 1
    for name, rule in (("der2_rubric", "value(error_rate) <= 1"), ("der2_errors", "upper(bias) <= 0.1")):
        refused = said(folder, name, "gate", "study", "--rule", rule)
        assert (refused.code, refused.out) == (2, "")
        assert "no label counts as right" in refused.err or "are no numbers" in refused.err


def test_a_gate_holds_scores_against_a_baseline(folder: Path) -> None:
    margins = ["--not-worse", "mean_absolute_error by 0.05", "--not-worse", "over_grading by 5%"]
    worse = said(folder, "der2_rubric", "gate", "lenient", "--baseline", "study", *margins)
    assert worse.code == 1
    better = said(folder, "der2_rubric", "gate", "study", "--baseline", "lenient", *margins)
    assert better.code == 0
    values = [
        build_report(load(folder, "der2_rubric", run))["graders"][0]["score_errors"]["mean_absolute_error"]["value"]
        for run in ("lenient", "study")
    ]
    assert f"{values[0] - values[1]:+.3f} [" in worse.out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("upper(bias) <= -0.5", Rule("upper", "bias", "<=", -0.5)),
        ("value(mean_absolute_error) <= 2.5", Rule("value", "mean_absolute_error", "<=", 2.5)),
        ("upper(over_grading) <= 20%", Rule("upper", "over_grading", "<=", 0.2)),
    ],
)
def test_sizes_of_errors_are_in_the_scales_units(text: str, expected: Rule) -> None:
    assert parse_rule(text) == expected
    assert parse_not_worse("mean_absolute_error by 1.5") == NotWorse("mean_absolute_error", 1.5)


@pytest.mark.parametrize(
    "text",
    ["upper(bias) <= 5%", "value(mean_absolute_error) <= -0.1", "upper(over_grading) <= 2", "upper(mean_error) <= 1"],
)
def test_other_limits_of_errors_are_no_rules(text: str) -> None:
    with pytest.raises(SpecError, match="expected"):
        parse_rule(text)


@pytest.mark.parametrize("text", ["bias by 0.1", "mean_absolute_error by 5%", "mean_absolute_error by 0"])
def test_other_margins_of_errors_are_none(text: str) -> None:
    with pytest.raises(SpecError, match="expected"):
        parse_not_worse(text)


def scored(rows: list[tuple[int, list[int]]], *, expected: int = 3) -> Sample:
    """Items with the place of people's score and those of the verdicts that came."""
    items = made_set("der2_rubric", ["0"] * len(rows)).items
    counts = np.array([np.bincount(places, minlength=5) for _, places in rows], dtype=np.int64)
    reference = tuple(DER2_RUBRIC.labels[place] for place, _ in rows)
    lost = tuple({"unparsed": expected - len(places)} for _, places in rows)
    return Sample(DER2_RUBRIC, items, reference, counts, lost, expected)


@settings(deadline=None)
@given(ROWS, st.sampled_from(SCORE_MEASURES))
def test_missing_verdicts_are_completed_to_the_bounds_of_the_report(rows: list[Any], name: str) -> None:
    sample = scored(rows)
    ends = [
        score_values(complete_sample(sample, sample.reference, name, worse=worse), sample.reference, name).mean()
        for worse in (False, True)
    ]
    bounds = score_error_bounds(
        [str(one) for one in sample.reference],
        sample.counts,
        3,
        labels=DER2_RUBRIC.labels,
        values=DER2_RUBRIC.values or (),
    )
    assert ends == pytest.approx(getattr(bounds, name))


def test_a_measure_of_scores_is_the_reports(folder: Path) -> None:
    data = load(folder, "der2_rubric")
    (graded,) = read_graded_samples(data)
    errors = build_report(data)["graders"][0]["score_errors"]
    for name in SCORE_MEASURES:
        found = measure(graded, name, level=0.95)
        assert found.estimate.value == errors[name]["value"]
        assert np.nanmean(score_values(graded.sample, graded.sample.reference, name)) == pytest.approx(
            errors[name]["value"]
        )
