"""The data of each figure are the report's and the analyses' own numbers; a run with little has few figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from figure_runs import (
    answering_run,
    full_run,
    make_grader,
    make_items,
    make_run,
    make_truths,
    only_failures,
    small_run,
    wordings_run,
)
from score_runs import draw, scored
from score_runs import run as score_run

from calibration_sets.scale import SIMPLEQA
from experiments.analyses.choice.choosing import Choice, choose_grader
from experiments.analyses.wordings.answer_wordings import read_answer_wordings
from experiments.analyses.wordings.grader_wordings import read_grader_wordings
from experiments.analyses.wordings.wording_comparison import compare_wordings
from experiments.plots.agreement import item_agreement
from experiments.plots.error_cost import draw_error_time
from experiments.plots.error_rates import draw_error_rates
from experiments.plots.figure import Figure, render_svg
from experiments.plots.item_parts import draw_by_kind
from experiments.plots.report_figures import build_figures
from experiments.reports import build_report
from experiments.reports.call_times import GraderTimes
from experiments.reports.escaping import visible
from experiments.reports.inputs import RunData
from experiments.specs.decisions import AbSpec, ChooseSpec, PanelSpec
from graders.exact import VerdictDistribution
from graders.pricing import Cost

Drawn = Mapping[str, Figure]


@pytest.fixture(scope="module")
def data() -> RunData:
    return full_run(n=48, n_graders=4, repeats=4)


@pytest.fixture(scope="module")
def report(data: RunData) -> dict[str, Any]:
    return build_report(data)


@pytest.fixture(scope="module")
def choice(data: RunData) -> Choice:
    return choose_grader(data, None, level=0.95)


@pytest.fixture(scope="module")
def drawn(data: RunData, report: dict[str, Any], choice: Choice) -> Drawn:
    return {figure.name: figure for figure in build_figures(data, report, choice=choice)}


def figures_of(data: RunData) -> Drawn:
    return {figure.name: figure for figure in build_figures(data, build_report(data))}


def rows_of(figure: Figure) -> list[dict[str, Any]]:
    table = figure.table.astype(object)
    return [dict(row) for row in table.where(pd.notna(table), None).to_dict("records")]


def same(row: Mapping[str, Any], estimate: Mapping[str, Any]) -> bool:
    named = {"n_items": "n", "n_questions": "clusters", "repeats": "repeats"}
    ends = all(row[name] == estimate[name] for name in ("value", "low", "high", "level"))
    return ends and all(row[name] == estimate[field] for name, field in named.items())


def test_the_forest_plot_has_the_rates_of_the_report(drawn: Drawn, report: dict[str, Any]) -> None:
    rows = rows_of(drawn["error_rates"])
    assert len(rows) == 2 * len(report["graders"])
    for row in rows:
        grader = report["graders"][row["number"] - 1]
        assert same(row, grader[f"{row['error']}_rate"])
        assert row["coverage"] == grader["rate_coverage"][f"{row['error']}_rate"]
        bounds = grader[f"{row['error']}_rate_bounds"]
        assert [row["lowest"], row["highest"]] == (bounds or [None, None])
        assert row["grader"] == visible(f"{grader['prompt'].partition('#')[0]} {grader['model']}")
    assert any(row["lowest"] is not None for row in rows)


def test_confusion_has_the_counts_of_the_report_and_what_is_missing(drawn: Drawn, report: dict[str, Any]) -> None:
    rows = rows_of(drawn["confusion"])
    assert len(rows) == len(report["graders"]) * 3 * 4
    for row in rows:
        grader = report["graders"][row["number"] - 1]
        matrix = grader["confusion"]
        place = matrix["labels"].index(row["reference"])
        if row["verdict"] is None:
            asked = grader["n_repeats"] * matrix["n_items"][place]
            assert (row["count"], row["share"]) == (matrix["n_missing"][place], matrix["n_missing"][place] / asked)
        else:
            column = matrix["labels"].index(row["verdict"])
            assert (row["count"], row["share"]) == (matrix["counts"][place][column], matrix["rates"][place][column])
    assert sum(row["count"] for row in rows) == 4 * 48 * 4


def test_majority_has_the_rates_of_the_report(drawn: Drawn, report: dict[str, Any]) -> None:
    rows = rows_of(drawn["majority"])
    assert {row["k"] for row in rows} == {int(k) for k in report["graders"][0]["majority"]}
    for row in rows:
        assert same(row, report["graders"][row["number"] - 1]["majority"][str(row["k"])][f"{row['error']}_rate"])


def test_kinds_have_the_rates_of_the_report_and_topics_those_of_the_choice(
    drawn: Drawn, report: dict[str, Any], choice: Choice
) -> None:
    kinds = rows_of(drawn["by_kind"])
    assert len(kinds) == 4 * 3 * 2
    for row in kinds:
        assert same(row, report["graders"][row["number"] - 1]["by_kind"][row["part"]][f"{row['error']}_rate"])
    for dimension in ("topic", "answer_type"):
        rows = rows_of(drawn[f"by_{dimension}"])
        strata = {one.value: one for one in choice.strata if one.dimension == dimension}
        assert {row["part"] for row in rows} == set(strata)
        for row in rows:
            own = strata[row["part"]].candidates[row["number"] - 1].rates
            rate = own["false_negative_rate" if row["error"] == "false_negative" else "false_positive_rate"]
            assert (row["value"], row["low"], row["high"]) == (rate.value, rate.low, rate.high)


def test_failures_have_the_counts_of_the_report(drawn: Drawn, report: dict[str, Any]) -> None:
    counts = {(row["number"], row["reason"]): row["count"] for row in rows_of(drawn["failures"])}
    for grader in report["graders"]:
        own = {reason: count for (number, reason), count in counts.items() if number == grader["number"] and count}
        assert own == grader["failures"]


def test_cost_has_the_front_of_the_choice(drawn: Drawn, choice: Choice) -> None:
    rows = rows_of(drawn["error_cost"])
    assert choice.front_over_cost
    names = [candidate.name for candidate in choice.candidates]
    assert {names[row["number"] - 1] for row in rows if row["on_front"]} == set(choice.front.front)
    for row, candidate, own in zip(rows, choice.candidates, choice.rates, strict=True):
        assert row["spent"] == (candidate.thousand.amount if candidate.thousand else None)
        assert row["value"] == own.rates["error_rate"].value
    assert [row["number"] for row in rows if not row["known"]] == [3]  # the one without a price
    assert "(cost not known)" in render_svg(drawn["error_cost"])


def test_costs_far_apart_free_and_none(data: RunData) -> None:
    def choose(*dollars: float | None) -> Drawn:
        costs = [None if one is None else Cost(one) for one in dollars]
        graders = [replace(one, cost=cost) for one, cost in zip(data.graders, costs, strict=True)]
        run = replace(data, graders=graders)
        return {one.name: one for one in build_figures(run, None, choice=choose_grader(run, None, level=0.95))}

    far = render_svg(choose(0.001, 0.01, 1.0, 50.0)["error_cost"])
    assert ">0.01<" in far
    assert ">100<" in far
    free = choose(0.0, 0.1, 0.1, 50.0)["error_cost"]
    assert rows_of(free)[0]["spent"] == 0
    assert "NaN" not in render_svg(free)
    assert "error_cost" not in choose(0.0, 0.0, 0.0, None)
    assert "error_cost" not in choose(None, None, None, None)


def test_a_cost_that_is_only_a_lower_bound_is_not_known(data: RunData) -> None:
    graders = [replace(one, cost=Cost(1.0, place > 0)) for place, one in enumerate(data.graders)]
    run = replace(data, graders=graders)
    (figure,) = (
        one for one in build_figures(run, None, choice=choose_grader(run, None, level=0.95)) if one.name == "error_cost"
    )
    assert [row["known"] for row in rows_of(figure)] == [False, True, True, True]


def test_time_is_drawn_where_it_is_known(data: RunData) -> None:
    times = [GraderTimes(n_timed=10, n_valid=10, seconds=seconds) for seconds in (4.0, 2.0, 1.0)]
    graders = [replace(one, times=time) for one, time in zip(data.graders, [*times, GraderTimes()], strict=True)]
    figure = draw_error_time(choose_grader(replace(data, graders=graders), None, level=0.95))
    assert figure is not None
    rows = rows_of(figure)
    assert [row["spent"] for row in rows] == [400.0, 200.0, 100.0, None]
    assert [row["on_front"] for row in rows][3] is False
    assert draw_error_time(choose_grader(data, None, level=0.95)) is None


def test_panels_are_points_without_items_behind_them(data: RunData) -> None:
    names = [candidate.name for candidate in choose_grader(data, None, level=0.95).candidates]
    spec = ChooseSpec(panels=[PanelSpec(name="<b>three</b>", members=[names[0], names[1], names[3]])])
    choice = choose_grader(data, spec, level=0.95)
    drawn = {figure.name: figure for figure in build_figures(data, build_report(data), choice=choice)}
    assert rows_of(drawn["error_cost"])[-1]["form"] == "panel"
    assert "grader=5" not in render_svg(drawn["error_cost"])
    assert "5. &lt;b&gt;three&lt;/b&gt;" in render_svg(drawn["error_cost"])
    assert {row["number"] for row in rows_of(drawn["by_topic"])} == {1, 2, 3, 4}


def test_agreement_counts_items_by_the_share_of_their_most_frequent_verdict(drawn: Drawn, data: RunData) -> None:
    rows = rows_of(drawn["agreement"])
    for number, grader in enumerate(data.graders, start=1):
        said: dict[str, Counter[str]] = {}
        for verdict in grader.verdicts:
            if verdict.label is not None:
                said.setdefault(verdict.item_digest, Counter())[verdict.label] += 1
        shares = [max(own.values()) / own.total() for own in said.values() if own.total() > 1]
        own_rows = [row for row in rows if row["number"] == number]
        for row in own_rows:
            below = row["below_share"] or 2
            assert row["n_in_part"] == sum(row["from_share"] <= share < below for share in shares)
            assert row["n_items"] == len(shares)
            assert row["n_without"] == 48 - len(shares)
        assert sum(row["share"] for row in own_rows) == pytest.approx(1)


def test_agreement_of_computed_repeats_is_the_chance_of_the_likeliest_label() -> None:
    data = small_run(n=4)
    (grader,) = data.graders
    digests = [item.digest for item in data.calibration_set.items]
    chances = [(0.2, 0.2, 0.6), (0.0, 0.0, 1.0), (0.9, 0.1, 0.0)]
    found = {
        digest: VerdictDistribution(digest, dict(zip(SIMPLEQA.labels, own, strict=True)), outside=0.0)
        for digest, own in zip(digests, chances, strict=False)
    }
    sampling = {"repeats": 10, "method": "exact"}
    exact = replace(grader, distributions=found, sampling=sampling)
    assert np.array_equal(item_agreement(data, exact), [0.6, 1.0, 0.9, np.nan], equal_nan=True)


def test_effects_of_wordings_are_those_of_the_comparison() -> None:
    data = wordings_run()
    result = compare_wordings(read_grader_wordings(data), None, level=0.9, resamples=200)
    (figure,) = build_figures(data, None, wordings=result)
    rows = rows_of(figure)
    assert len(rows) == 2 * 3 * 3  # wordings but the control, quantities, models and their average
    for row in rows:
        (own,) = (one.effects[row["quantity"]] for one in result.comparisons if one.wording == row["wording"])
        wanted = own.fixed if row["model"] == "average" else own.effects[own.models.index(row["model"])].difference
        estimate = wanted.estimate
        assert (row["value"], row["low"], row["high"]) == (estimate.value, estimate.low, estimate.high)
        assert estimate.low is not None
        assert estimate.high is not None
        assert row["excludes_zero"] == (estimate.low > 0 or estimate.high < 0)
    svg = render_svg(figure)
    assert svg.count("href=") == 2 * 3 * 2  # averages have no grader of their own
    assert "#items?error=false_positive&amp;grader=6" in svg


def test_answer_wordings_have_scores_and_no_items_of_graders() -> None:
    data = answering_run()
    grid = read_answer_wordings(data)
    rule = AbSpec.model_validate({"control": "old@1.0.0", "raise": "index", "may_not_fall": {"correct": 0.2}})
    for spec, scores in ((None, {"f1", "accuracy_given_attempted", "attempted"}), (rule, {"index", "correct"})):
        result = compare_wordings(grid, spec, level=0.95, resamples=200)
        (figure,) = build_figures(data, None, wordings=result)
        assert {row["quantity"] for row in rows_of(figure)} == scores
        assert {row["model"] for row in rows_of(figure)} == {"made/a", "made/b", "average"}
        assert "href" not in render_svg(figure)


def test_a_comparison_that_is_looked_at_has_the_checks_of_its_rule() -> None:
    data = wordings_run()
    spec = AbSpec.model_validate({"control": "wording_0@1.0.0", "raise": "accuracy", "stopping": "anytime"})
    result = compare_wordings(read_grader_wordings(data), spec, level=0.9, resamples=200)
    (figure,) = build_figures(data, None, wordings=result)
    assert {(row["quantity"], row["model"]) for row in rows_of(figure)} == {("accuracy", "average")}


def test_scores_are_those_of_the_scoring() -> None:
    labelled = score_run("cal", draw(1, 200, {None: (0.3, 0.2, 0.5)}, prefix="c", repeats=2))
    shares = {"<i>one</i>": (0.5, 0.1, 0.4), "two": (0.3, 0.1, 0.6)}
    benchmark = score_run("bench", draw(2, 150, shares, repeats=2), labels=False)
    scoring = scored(benchmark, labelled, rank_by="correct")
    (figure,) = build_figures(benchmark, None, scoring=scoring)
    for row, one in zip(rows_of(figure), scoring.respondents, strict=True):
        assert one.correction.corrected is not None
        budget = one.budgets["correct"]
        assert budget is not None
        assert row["graded"] == one.correction.uncorrected["correct"].value
        assert row["corrected_high"] == one.correction.corrected["correct"].high
        parts = [row[part] for part in ("questions", "repeats", "grader_error", "calibration")]
        assert parts == [budget.questions, budget.repeats, budget.grader_error, budget.calibration]
        assert row["people"] is None
        assert sum(parts) == pytest.approx(1)
    svg = render_svg(figure)
    assert "&lt;i&gt;one&lt;/i&gt;" in svg
    assert 'role="img"' in svg  # its items are another run's
    assert build_figures(benchmark, None, scoring=scored(benchmark, None)) == ()


# A run with little --------------------------------------------------------------------------------------------------


def test_one_grader_with_one_verdict_an_item_has_rates_and_a_matrix() -> None:
    drawn = figures_of(small_run())
    assert list(drawn) == ["error_rates", "confusion"]
    assert drawn["error_rates"].description.startswith("False negatives: ")
    for figure in drawn.values():
        assert "NaN" not in render_svg(figure)


def test_a_grader_that_never_gave_a_label() -> None:
    drawn = figures_of(only_failures())
    assert list(drawn) == ["confusion", "failures"]
    rows = rows_of(drawn["confusion"])
    assert {row["share"] for row in rows if row["verdict"] is not None} == {None}
    assert {row["share"] for row in rows if row["verdict"] is None and row["n_items"]} == {1.0}
    assert sum(row["count"] for row in rows_of(drawn["failures"])) == 6
    for figure in drawn.values():
        svg = render_svg(figure)
        assert "NaN" not in svg
        assert "undefined" not in svg


def test_a_rate_that_is_not_defined_is_said_to_be() -> None:
    items = make_items(8)
    truths = ["INCORRECT"] * 8
    drawn = figures_of(make_run(items, truths, [make_grader("p@1.0.0#a", "made/one", items, truths)]))
    by_error = {row["error"]: row for row in rows_of(drawn["error_rates"])}
    assert by_error["false_negative"]["value"] is None
    assert "False negatives: not defined." in drawn["error_rates"].description
    assert ">not defined</text>" in render_svg(drawn["error_rates"])


def test_a_run_without_labels_shows_what_repeats_and_failures_say() -> None:
    items = make_items(12)
    grader = make_grader("p@1.0.0#a", "made/one", items, make_truths(items), repeats=3, missing=0.2)
    assert list(figures_of(make_run(items, [None] * 12, [grader]))) == ["agreement", "failures"]


def test_a_run_without_graders_or_report_has_no_figure() -> None:
    data = replace(small_run(), graders=())
    assert build_figures(data, build_report(data)) == ()
    assert build_figures(data, None) == ()


def test_figures_grow_with_their_rows() -> None:
    def height(figure: Figure | None) -> int:
        assert figure is not None
        return int(render_svg(figure).partition('height="')[2].partition('"')[0])

    few, many = (build_report(full_run(n=120, n_graders=1, repeats=1, n_kinds=kinds)) for kinds in (4, 40))
    assert height(draw_by_kind(few)) < 250
    assert 40 * 20 < height(draw_by_kind(many)) < 40 * 30
    twelve = {
        **many,
        "graders": [many["graders"][0] | {"number": number, "grader_id": str(number)} for number in range(1, 13)],
    }
    assert height(draw_by_kind(twelve)) > 2 * 40 * 20
    assert height(draw_error_rates(twelve)) > height(draw_error_rates(few)) + 200
