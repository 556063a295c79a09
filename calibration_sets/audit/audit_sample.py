"""A random sample of a question set, stratified by topic, that can be extended without losing what was drawn."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calibration_sets.curation.question_file import question_digest
from calibration_sets.curation.quotas import fill_quotas
from calibration_sets.question import Question

__all__ = ["NO_TOPIC", "draw_sample", "extend_sample"]

NO_TOPIC = "(not given)"
"""The stratum of questions without a topic."""


@dataclass(frozen=True, slots=True)
class _Strata:
    """Questions by topic, each topic in the order of its lot."""

    by_topic: Mapping[str, Sequence[Question]]

    @property
    def sizes(self) -> dict[str, int]:
        return {topic: len(questions) for topic, questions in self.by_topic.items()}

    def take(self, counts: Mapping[str, int]) -> tuple[Question, ...]:
        return tuple(one for topic in sorted(counts) for one in self.by_topic[topic][: counts[topic]])


def _stratify(questions: Sequence[Question], seed: int) -> _Strata:
    def lot(question: Question) -> tuple[str, str]:
        return hashlib.sha256(f"audit {seed} {question_digest(question)}".encode()).hexdigest(), question.question_id

    by_topic: dict[str, list[Question]] = {}
    for question in sorted(questions, key=lot):
        by_topic.setdefault(question.topic or NO_TOPIC, []).append(question)
    return _Strata(by_topic)


def _share_out(
    available: Mapping[str, int], total: int, *, weights: Mapping[str, float], seed: int
) -> Mapping[str, int]:
    """Places by topic, equal remainders by lot: by name, many small topics would always leave out the last ones."""
    lots = {
        topic: f"{hashlib.sha256(f'audit {seed} topic {topic}'.encode()).hexdigest()} {topic}" for topic in available
    }
    quotas = fill_quotas(
        {lots[topic]: count for topic, count in available.items()},
        total,
        weights={lots[topic]: weight for topic, weight in weights.items()},
    )
    return {topic: quotas[lot] for topic, lot in lots.items()}


def draw_sample(questions: Sequence[Question], *, size: int, seed: int) -> tuple[Question, ...]:
    """A random sample in which each topic has its share, by largest remainders; all where there are no more.

    The draw depends on the seed and on what the questions say, not on their order.

    Parameters
    ----------
    questions
        The set.
    size
        How many to draw.
    seed
        Of the draw.
    """
    strata = _stratify(questions, seed)
    return strata.take(_share_out(strata.sizes, size, weights=strata.sizes, seed=seed))


def extend_sample(
    questions: Sequence[Question], drawn: Sequence[Question], *, size: int, seed: int
) -> tuple[Question, ...]:
    """A sample of ``size`` that holds all that was drawn with the same seed; topics that lack most get most.

    Drawing anew can give a topic fewer of a larger sample, which would waste what people have labelled.
    """
    strata = _stratify(questions, seed)
    had = Counter(question.topic or NO_TOPIC for question in drawn)
    left = {topic: count - had[topic] for topic, count in strata.sizes.items()}
    n_all = len(questions)
    lacking = {topic: max(0.0, size * count / n_all - had[topic]) for topic, count in strata.sizes.items()}
    more = _share_out(left, max(0, size - len(drawn)), weights=lacking, seed=seed)
    return strata.take({topic: had[topic] + more[topic] for topic in strata.sizes})
