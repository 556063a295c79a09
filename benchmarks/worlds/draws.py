"""What is seen of a world: answers to a benchmark's questions, a calibration set, and graders' verdicts on both.

A verdict is drawn by one normal number with variance 1 and the limits that give the grader's chances. Parts of that
number are the question's, the answer's, the answer's with this grader, and the verdict's own. The first three would
survive any number of repeats; the first two make graders err on the same answers. People's labels are the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worlds.population import COMMON, LABELS, N_MODELS, Array, GraderTruth, Population

__all__ = ["CALIBRATION_QUESTIONS", "QUESTIONS", "REPEATS", "Answers", "World", "draw_verdicts", "draw_world"]

QUESTIONS, CALIBRATION_QUESTIONS, ANSWERS_A_QUESTION, REPEATS = 1000, 300, 3, 3
OF_QUESTION, OF_ANSWER, OF_GRADER = 0.2, 0.25, 0.25
SHARED_DIFFICULTY, SHARED_BY_WORDINGS = 0.6, 0.7
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """Answers with their true class (n,) and question (n,); ``hardness`` (n,) is what all graders share of them."""

    classes: Codes
    questions: Codes
    hardness: Array


@dataclass(frozen=True)
class World:
    """What is seen of a population.

    Attributes
    ----------
    verdicts
        (W, M, Q, 3) the judge's one verdict on each benchmark answer.
    calibration
        Labelled answers under the control, of three models to each of other questions.
    counts
        (K, n, 3) verdicts of the graders that are to be chosen from, on labelled answers.
    judge_counts
        (n, 3) verdicts of the judge there.
    """

    population: Population
    verdicts: Codes
    calibration: Answers
    counts: Codes
    judge_counts: Codes


def draw_world(population: Population, rng: np.random.Generator) -> World:
    """Draw a benchmark, a calibration set of other questions of the same kind, and all verdicts."""
    classes = _draw_classes(population.attempt, population.right, QUESTIONS, rng)
    questions = np.broadcast_to(np.arange(QUESTIONS), classes.shape)
    benchmark = _answers(classes.ravel(), questions.ravel(), rng)
    verdicts = draw_verdicts(population.judge, benchmark, rng, repeats=1).reshape(*classes.shape, 3)
    known = _draw_classes(population.attempt[:1], population.right[:1], CALIBRATION_QUESTIONS, rng)[0]
    drawn = np.array([rng.permutation(N_MODELS)[:ANSWERS_A_QUESTION] for _ in range(CALIBRATION_QUESTIONS)])
    places = np.repeat(np.arange(CALIBRATION_QUESTIONS), ANSWERS_A_QUESTION)
    calibration = _answers(known[drawn.ravel(), places], places, rng)
    counts = [draw_verdicts(grader, calibration, rng, repeats=REPEATS) for grader in population.graders]
    return World(
        population=population,
        verdicts=verdicts,
        calibration=calibration,
        counts=np.stack(counts),
        judge_counts=draw_verdicts(population.judge, calibration, rng, repeats=REPEATS),
    )


def _draw_classes(attempt: Array, right: Array, n_questions: int, rng: np.random.Generator) -> Codes:
    """(W, M, n) class of each answer; the wordings of a model share most of its luck with a question."""
    n_wordings, n_models = attempt.shape
    ease = np.sqrt(SHARED_DIFFICULTY) * rng.standard_normal(n_questions)
    ease = ease + np.sqrt(1 - SHARED_DIFFICULTY) * rng.standard_normal((n_models, n_questions))

    def luck(numbers: Array) -> NDArray[np.bool_]:
        shared = rng.standard_normal((n_models, n_questions))
        own = rng.standard_normal((n_wordings, n_models, n_questions))
        noise = np.sqrt(SHARED_BY_WORDINGS) * shared + np.sqrt(1 - SHARED_BY_WORDINGS) * own
        return np.asarray(numbers[:, :, None] + np.sqrt(COMMON) * ease + np.sqrt(1 - COMMON) * noise > 0)

    attempts, rights = luck(attempt), luck(right)
    return np.where(attempts, np.where(rights, 2, 0), 1).astype(np.int64)


def _answers(classes: Codes, questions: Codes, rng: np.random.Generator) -> Answers:
    shared = rng.standard_normal(int(questions.max()) + 1)[questions]
    own = rng.standard_normal(len(classes))
    return Answers(classes, questions, np.sqrt(OF_QUESTION) * shared + np.sqrt(OF_ANSWER) * own)


def draw_verdicts(grader: GraderTruth, answers: Answers, rng: np.random.Generator, *, repeats: int) -> Codes:
    """(n, 3) verdicts with each label."""
    n = len(answers.classes)
    fixed = answers.hardness + np.sqrt(OF_GRADER) * rng.standard_normal(n)
    noise = np.sqrt(1 - OF_QUESTION - OF_ANSWER - OF_GRADER) * rng.standard_normal((n, repeats))
    number = fixed[:, None] + noise
    limits, order = _limits(grader.confusion)
    own = limits[answers.classes]
    steps = (number > own[:, :1]).astype(np.int64) + (number > own[:, 1:])
    said = np.take_along_axis(order[answers.classes], steps, axis=1)
    return np.stack([(said == place).sum(axis=1) for place in range(len(LABELS))], axis=1)


def _limits(confusion: Array) -> tuple[Array, Codes]:
    """Per class: the two limits between three verdicts, and these verdicts, the right one first."""
    order = np.array([[place, *(other for other in range(3) if other != place)] for place in range(3)])
    ordered = np.take_along_axis(confusion, order, axis=1)
    return np.asarray(special.ndtri(np.cumsum(ordered, axis=1)[:, :2])), order
