"""A reduced ``benchmarks/worlds.py``: decisions in worlds whose truth is known, against binomial bounds, seeded.

Every bound is one that an honest method misses in one of ten thousand runs with other seeds. The controls show that a
reader without the care is caught by the same bounds.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))

from validity.workers import cell_generator
from worlds.choice_trial import ChoiceTrial, read_graders, try_choices
from worlds.draws import QUESTIONS, Answers, draw_verdicts, draw_world
from worlds.page import render_page
from worlds.population import (
    IN_VAIN,
    LABELS,
    LIMIT,
    MARGIN,
    N_GRADERS,
    N_MODELS,
    N_WORDINGS,
    GraderTruth,
    Population,
    draw_population,
    joint_share,
)
from worlds.score_trial import N_SCORED, SHOWN, WAYS, read_benchmark
from worlds.tallies import count_events, count_held
from worlds.trials import CORRECTED, WorldCell, WorldTrials, try_world
from worlds.wording_trial import RULES, read_wordings

SEED = 11
CHANCE = 1e-4
N_WORLDS, N_CHOICES = 6, 60


def fewest(share: float, draws: int) -> int:
    """Successes that one in ten thousand runs falls below where each succeeds with this chance."""
    return int(stats.binom.ppf(CHANCE, draws, share))


def most(share: float, draws: int) -> int:
    return int(stats.binom.isf(CHANCE, draws, share))


@cache
def trials() -> tuple[WorldTrials, ...]:
    """A few worlds, tried once for all tests."""
    cells = [WorldCell(number) for number in range(N_WORLDS)]
    return tuple(one for cell in cells for one in try_world(cell, cell_generator(SEED, cell), 1))


@cache
def choices() -> tuple[ChoiceTrial, ...]:
    """Grader choices of more worlds, which take less time."""
    found: list[ChoiceTrial] = []
    for number in range(N_CHOICES):
        cell = WorldCell(number)
        rng = cell_generator(SEED, cell)
        truth = population(cell, rng)
        small = replace(truth, attempt=truth.attempt[:1], right=truth.right[:1])
        found += try_choices(draw_world(small, rng), on_limit=cell.on_limit)
    return tuple(found)


def population(cell: WorldCell, rng: np.random.Generator) -> Population:
    return draw_population(rng, some_deserve=cell.some_deserve, lenient=cell.lenient, on_limit=cell.on_limit)


def count_wrong(rule: str, *, graded: bool = False) -> int:
    own = [one for world in trials() for one in world.wordings if one.rule == rule]
    return sum(one.wrong_as_graded if graded else one.wrong for one in own)


def held(way: str, *, lenient: bool | None = None) -> list[bool]:
    """Intervals of F1: models of a world share little beside the calibration set."""
    return [
        bool(one.held)
        for world in trials()
        for one in world.scores
        if one.way == way and one.score == "f1" and lenient in (None, one.lenient) and one.held is not None
    ]


def count_choices(spec: str, rule: str, what: str) -> int:
    own = [one for one in choices() if (one.spec, one.rule) == (spec, rule)]
    assert len(own) == N_CHOICES
    return sum(getattr(one, what) for one in own)


@pytest.mark.slow
def test_ab_adopts_a_wrong_wording_no_more_often_than_it_claims() -> None:
    assert count_wrong("ab", graded=True) <= most(0.025, N_WORLDS)
    assert count_wrong("corrected") <= most(0.025, N_WORLDS)
    assert {one.rule for one in trials()[0].wordings} == set(RULES)


def effects_held(way: str) -> list[bool]:
    """Of one wording a world, as those of a world share the control and the labelled answers."""
    found = [[one.held for one in world.effects if one.way == way and one.score == "accuracy"] for world in trials()]
    return [held for world in found for held in world[:1]]


@pytest.mark.slow
def test_corrected_effects_hold_the_truth_and_guessing_in_vain_is_not_adopted() -> None:
    assert len(effects_held("corrected")) == N_WORLDS
    assert sum(effects_held("corrected")) >= fewest(0.95, N_WORLDS)
    vain = [one for world in trials() for one in world.vain if one.way == "corrected"]
    assert sum(one.wrong for one in vain) <= most(0.025, N_WORLDS)
    assert {one.way for world in trials() for one in world.effects} == {"as graded", "corrected"}


@pytest.mark.slow
def test_only_the_first_worlds_are_corrected() -> None:
    number = 8 * (CORRECTED // 8 + 1)
    (later,) = try_world(WorldCell(number), cell_generator(SEED, WorldCell(number)), 1)
    assert (later.effects, later.vain) == ((), ())
    assert {one.rule for one in later.wordings} == {*RULES} - {"corrected"}


def test_wordings_that_make_models_guess_in_vain_raise_nothing_but_attempts() -> None:
    rng = np.random.default_rng(3)
    truth = draw_population(rng, some_deserve=False, lenient=True, on_limit=False, wordings=IN_VAIN)
    for place in range(1, len(IN_VAIN)):
        assert truth.effect(place, "accuracy") == 0
        assert truth.effect(place, "attempted") > 0.04
        assert truth.effect(place, "accuracy", graded=True) > 0.002


@pytest.mark.slow
def test_the_bound_finds_wordings_adopted_by_their_estimates() -> None:
    assert count_wrong("estimates") > most(0.025, N_WORLDS)


@pytest.mark.slow
def test_ab_finds_a_wording_that_is_better() -> None:
    own = [one for world in trials() for one in world.wordings if one.rule == "ab" and one.some_deserve]
    assert own
    assert any(one.found for one in own)
    assert not any(one.found for world in trials() for one in world.wordings if not one.some_deserve)


@pytest.mark.slow
def test_choose_leaves_out_the_best_no_more_often_than_it_claims() -> None:
    for spec in ("lowest", "within"):
        assert count_choices(spec, "choose", "left_out") <= most(0.05, N_CHOICES), spec
    assert count_choices("within", "choose", "broke") <= most(0.025, N_CHOICES)


@pytest.mark.slow
def test_the_bound_finds_choices_without_intervals_or_adjustment() -> None:
    assert count_choices("lowest", "estimates", "left_out") > most(0.05, N_CHOICES)
    assert count_choices("within", "unadjusted", "left_out") > most(0.05, N_CHOICES)
    assert count_choices("within", "estimates", "took_breaking") > most(0.025, N_CHOICES)


@pytest.mark.slow
def test_corrected_intervals_hold_the_true_score_as_often_as_they_claim() -> None:
    found = held("corrected")
    assert len(found) == N_WORLDS * N_SCORED
    assert sum(found) >= fewest(0.95 - 0.02, len(found))
    pairs = [one for world in trials() for one in world.orders if one.way == "corrected"]
    assert sum(one.held for one in pairs) >= fewest(0.95 - 0.02, sum(one.pairs for one in pairs))
    assert sum(one.wrong > 0 for one in pairs) <= most(0.05, N_WORLDS)


@pytest.mark.slow
def test_the_bound_finds_the_uncorrected_intervals_of_a_lenient_judge() -> None:
    found = held("as graded", lenient=True)
    assert sum(found) < fewest(0.95 - 0.02, len(found))


@pytest.mark.slow
def test_the_page_says_what_was_found() -> None:
    text = render_page(trials(), seed=SEED)
    assert f"python benchmarks/worlds.py --worlds {N_WORLDS} --out docs/worlds.md --seed {SEED}" in text
    wrong = count_wrong("estimates")
    assert f"| estimates alone | {wrong} of {N_WORLDS} |" in text
    assert sum(line.startswith("- `") and "; promised " in line for line in text.splitlines()) == 19
    assert not re.search(r"nan|None|\{\w*\}", text)
    assert max(map(len, text.splitlines())) < 400
    assert {one.score for one in trials()[0].scores} == set(SHOWN)
    assert {one.way for one in trials()[0].scores} == set(WAYS)


@pytest.mark.slow
def test_the_script_writes_the_page(tmp_path: Path) -> None:
    script = Path(__file__).resolve().parent.parent / "benchmarks" / "worlds.py"
    out = tmp_path / "worlds.md"
    given = ["--worlds", "1", "--seed", str(SEED), "--processes", "1", "--out", str(out)]
    ran = subprocess.run([sys.executable, str(script), *given], capture_output=True, text=True, check=True, timeout=300)
    assert re.fullmatch(r"1 worlds: \d+ s\n", ran.stderr)
    assert out.read_text(encoding="utf-8") == render_page(trials()[:1], seed=SEED)


@pytest.mark.slow
def test_a_page_of_one_world_of_one_kind_can_be_written() -> None:
    assert "In 1 simulated worlds" in render_page(trials()[:1], seed=1)


@pytest.mark.parametrize("some_deserve", [False, True])
def test_wordings_truly_do_what_their_names_say(some_deserve: bool) -> None:
    """On the average of the models, and as the shares themselves say."""
    truth = draw_population(np.random.default_rng(3), some_deserve=some_deserve, lenient=True, on_limit=False)
    assert truth.shares.shape == (N_WORDINGS, N_MODELS, 3)
    assert_allclose(truth.shares.sum(axis=2), 1)
    assert truth.shares.min() > 0.01
    accuracy = truth.shares[:, :, 2]
    given = accuracy / (accuracy + truth.shares[:, :, 0])
    for place, wording in enumerate(truth.wordings):
        assert_allclose((accuracy[place] - accuracy[0]).mean(), wording.accuracy, atol=1e-9)
        assert_allclose((given[place] - given[0]).mean(), wording.given, atol=1e-9)
        assert truth.effect(place, "accuracy_given_attempted") == pytest.approx(wording.given, abs=1e-9)
        deserves = truth.effect(place, "accuracy") > 0 and truth.effect(place, "accuracy_given_attempted") > -MARGIN
        assert deserves == wording.deserves
    assert sum(one.deserves for one in truth.wordings) == (2 if some_deserve else 0)


def test_shares_of_right_answers_are_those_of_the_bivariate_normal() -> None:
    """Against scipy's distribution function with correlation .5."""
    attempt, right = np.array([0.3, -0.8, 1.2]), np.array([0.1, 0.9, -1.0])
    normal = stats.multivariate_normal(cov=[[1, 0.5], [0.5, 1]])
    expected = [normal.cdf([one, two]) for one, two in zip(attempt, right, strict=True)]
    assert_allclose(joint_share(attempt, right), expected, atol=1e-5)


def test_drawn_answers_have_the_shares_of_their_world() -> None:
    """Each cell to within five standard errors, with a perfect judge."""
    truth = population(WorldCell(1), np.random.default_rng(4))
    sure = replace(truth, judge=replace(truth.judge, confusion=np.full((3, 3), 1e-12) + np.eye(3) * (1 - 3e-12)))
    verdicts = draw_world(sure, np.random.default_rng(5)).verdicts
    assert verdicts.shape == (N_WORDINGS, N_MODELS, QUESTIONS, 3)
    error = np.sqrt(truth.shares * (1 - truth.shares) / QUESTIONS)
    assert np.abs((verdicts.mean(axis=2) - truth.shares) / error).max() < 5


def test_drawn_verdicts_have_the_graders_chances_and_repeats_err_alike() -> None:
    rng = np.random.default_rng(6)
    (grader, *_) = population(WorldCell(0), rng).graders
    n = 30_000
    for place in range(len(LABELS)):
        answers = Answers(np.full(n, place), np.arange(n), np.sqrt(0.45) * rng.standard_normal(n))
        counts = draw_verdicts(grader, answers, rng, repeats=2)
        assert_allclose(counts.mean(axis=0) / 2, grader.confusion[place], atol=0.008)
        wrong = 1 - grader.confusion[place, place]
        both = ((2 - counts[:, place]) == 2).mean()
        assert both > 3 * wrong**2


@pytest.mark.parametrize("on_limit", [False, True])
def test_graders_have_one_best_that_keeps_the_limit_and_some_that_break_it(on_limit: bool) -> None:
    truth = draw_population(np.random.default_rng(7), some_deserve=True, lenient=False, on_limit=on_limit)
    mix = truth.shares[0].mean(axis=0)
    kept = []
    for grader in truth.graders:
        assert_allclose(grader.confusion.sum(axis=1), 1)
        passed = mix[:2] @ grader.confusion[:2, 2] / mix[:2].sum()
        assert_allclose(passed, grader.rates["false_positive_rate"])
        assert_allclose(1 - grader.confusion[2, 2], grader.rates["false_negative_rate"])
        assert_allclose(mix @ (1 - np.diag(grader.confusion)), grader.rates["error_rate"])
        kept.append(passed <= LIMIT + 1e-12)
    assert len(truth.graders) == N_GRADERS
    best = min((one for one, keeps in zip(truth.graders, kept, strict=True) if keeps), key=missed)
    assert best.rates["false_positive_rate"] == pytest.approx(LIMIT if on_limit else 0.01)
    assert any(missed(one) < missed(best) for one in truth.graders)


def missed(grader: GraderTruth) -> float:
    return grader.rates["false_negative_rate"]


def test_a_world_is_read_as_the_commands_read_a_run() -> None:
    world = draw_world(population(WorldCell(2), np.random.default_rng(8)), np.random.default_rng(9))
    grid = read_wordings(world)
    assert (len(grid.facts.wordings), len(grid.facts.models), grid.facts.n_questions) == (10, 12, QUESTIONS)
    contest = read_graders(world)
    assert len(contest.entrants) == N_GRADERS
    assert len(set(contest.clusters)) == 300
    benchmark, calibration = read_benchmark(world)
    assert [one.sample.n_items for one in benchmark.respondents] == [QUESTIONS] * N_SCORED
    assert calibration.sample.labels_given == list(contest.reference)
    assert [list(labels) for labels in calibration.raters.labels.values()] == [list(contest.reference)]
    assert calibration.raters.in_turn == ()
    assert not set(calibration.questions) & set(benchmark.respondents[0].questions)
    assert_allclose(benchmark.respondents[1].sample.counts, world.verdicts[0, 1])


def clopper_pearson(happened: int, n: int) -> Sequence[float]:
    low = stats.beta.ppf(0.025, happened, n - happened + 1) if happened else 0.0
    high = stats.beta.ppf(0.975, happened + 1, n - happened) if happened < n else 1.0
    return [float(low), float(high)]


@pytest.mark.parametrize("happened", [0, 3, 20])
def test_events_are_counted_with_the_exact_binomial_interval(happened: int) -> None:
    tally = count_events("it", [True] * happened + [False] * (20 - happened), promised=0.05)
    assert_allclose([tally.estimate.low, tally.estimate.high], clopper_pearson(happened, 20), atol=1e-9)
    assert tally.holds == (happened < 20)
    assert tally.cells[0] == f"{happened} of 20"
    assert ("**does not hold**" in tally.cells) == (happened == 20)


def test_intervals_of_a_world_count_as_one_cluster() -> None:
    """Ten intervals of each of five worlds, all alike in a world: as wide as five, and a promise may be missed."""
    values = [world < 1 for world in range(5) for _ in range(10)]
    worlds = [world for world in range(5) for _ in range(10)]
    clustered = count_held("it", values, worlds, promised=0.95).estimate
    alone = count_held("it", values, list(range(50)), promised=0.95).estimate
    assert clustered.high - clustered.low > 1.5 * (alone.high - alone.low)
    assert not count_held("it", [False] * 50, list(range(50)), promised=0.95).holds
    assert count_held("it", [True] * 50, list(range(50))).cells[3:] == ["—", "—"]
