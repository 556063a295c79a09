"""Stage 3: pairs of questions that share most of their words go to people, who say which one to drop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

from calibration_sets.curation.question_file import question_digest
from calibration_sets.curation.reference_responses import ReferenceResponses, order_by_failure
from calibration_sets.curation.review_file import Cells, ReviewFile
from calibration_sets.curation.similarity import SimilarPair, TooManyPairsError, choose_survivors, find_similar_pairs
from calibration_sets.curation.stage_result import Drop, StageResult, keep_chosen
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question

__all__ = ["drop_lexical_duplicates", "lexical_review"]


def lexical_review(folder: Path) -> ReviewFile:
    """The file in which people judge the pairs."""
    return ReviewFile(
        folder / "lexical_pairs.csv",
        shown=("cosine", "first_id", "first_question", "first_answer", "second_id", "second_question", "second_answer"),
        filled=("decision", "note"),
        choices={"decision": ("drop_first", "drop_second", "keep_both")},
    )


def drop_lexical_duplicates(
    questions: Sequence[Question],
    responses: ReferenceResponses,
    review: ReviewFile,
    *,
    threshold: float,
    most_pairs: int,
    undecided: Literal["keep", "drop"],
    seed: int,
) -> StageResult:
    """Write the pairs nearer than ``threshold`` for people, and drop what they have decided on.

    ``undecided="drop"`` keeps one question of each pair that nobody has judged, by the order of preference.

    Raises
    ------
    SetFileError
        If there are more pairs than ``most_pairs``, so that questions of one template fill neither the memory nor a
        file that nobody could read, or if decisions go in a circle, so that of questions taken for one none would stay.
    """
    ordered = sorted(questions, key=lambda one: (question_digest(one), one.question_id))
    pairs = _near_pairs(ordered, threshold, most_pairs)
    review.write(_row(ordered, pair) for pair in sorted(pairs, key=lambda pair: (-pair.cosine, pair.first)))
    decided = review.read()
    losses = list(_losses(ordered, pairs, decided))
    _refuse_circle(losses, review.path.name)
    drops = {loss.question_id: loss for loss, _ in losses}
    left = [pair for pair in pairs if not _is_settled(ordered, pair, decided, drops)]
    if undecided == "drop":
        drops |= _undecided_drops(ordered, left, drops, order_by_failure(ordered, responses, seed=seed))
    what = "one of each dropped" if undecided == "drop" else "kept"
    return keep_chosen(
        questions,
        drops,
        notes=[
            f"{len(pairs)} pairs for review in {review.path.name}, {len(left)} not decided yet: {what}",
            *review.tell_strays(_key(ordered, pair) for pair in pairs),
        ],
    )


def _near_pairs(questions: Sequence[Question], threshold: float, most: int) -> list[SimilarPair]:
    # Slow to import, and needed by this one stage.
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        vectors = TfidfVectorizer(strip_accents="unicode").fit_transform([one.question for one in questions])
    except ValueError:
        # Texts without a single word of two letters, or no texts: nothing is near anything.
        return []
    try:
        return find_similar_pairs(vectors, threshold=threshold, most=most)
    except TooManyPairsError:
        raise SetFileError(
            f"lexical_duplicates: over {most} pairs of {len(questions)} questions have a cosine over {threshold:g}, "
            "more than people could judge; expected a larger threshold or most_pairs in the settings"
        ) from None


def _key(questions: Sequence[Question], pair: SimilarPair) -> str:
    """What the two questions say, so that a decision outlives other ids but not another wording."""
    return "-".join(question_digest(questions[row])[:16] for row in (pair.first, pair.second))


def _row(questions: Sequence[Question], pair: SimilarPair) -> Cells:
    cells = {"key": _key(questions, pair), "cosine": f"{pair.cosine:.3f}"}
    for place, row in (("first", pair.first), ("second", pair.second)):
        question = questions[row]
        cells[f"{place}_id"] = question.question_id
        cells[f"{place}_question"] = question.question
        cells[f"{place}_answer"] = question.reference.answer
    return cells


def _losses(
    questions: Sequence[Question], pairs: Sequence[SimilarPair], decided: Mapping[str, Cells]
) -> Iterator[tuple[Drop, str]]:
    """Each question that a person drops, and the one of its pair that was to stay."""
    for pair in pairs:
        decision = decided.get(_key(questions, pair), {}).get("decision")
        if decision in {"drop_first", "drop_second"}:
            rows = (pair.first, pair.second) if decision == "drop_first" else (pair.second, pair.first)
            dropped, other = (questions[row].question_id for row in rows)
            yield Drop(dropped, "near-duplicate by words", f"{other}, cosine {pair.cosine:.3f}; judged"), other


def _refuse_circle(losses: Sequence[tuple[Drop, str]], file: str) -> None:
    """A question may give way to one that itself gives way, as long as somewhere one stays."""
    stays: dict[str, set[str]] = {}
    for loss, other in losses:
        stays.setdefault(loss.question_id, set()).add(other)
    try:
        TopologicalSorter(stays).prepare()
    except CycleError as error:
        circle = " for ".join(error.args[1][::-1])
        raise SetFileError(
            f"{file}: decisions in a circle, {circle}; expected one of these questions to stay"
        ) from None


def _is_settled(
    questions: Sequence[Question], pair: SimilarPair, decided: Mapping[str, Cells], drops: Mapping[str, Drop]
) -> bool:
    """Whether a person has decided on the pair, or one of its questions is gone by another decision."""
    names = {questions[pair.first].question_id, questions[pair.second].question_id}
    return bool(decided.get(_key(questions, pair), {}).get("decision")) or bool(names & drops.keys())


def _undecided_drops(
    questions: Sequence[Question],
    pairs: Sequence[SimilarPair],
    drops: Mapping[str, Drop],
    preferred: Sequence[Question],
) -> dict[str, Drop]:
    rows = {question.question_id: row for row, question in enumerate(questions)}
    order = [rows[one.question_id] for one in preferred if one.question_id not in drops]
    found = {}
    for row, pair in choose_survivors(pairs, order).items():
        name, other = questions[row].question_id, questions[pair.second if pair.first == row else pair.first]
        found[name] = Drop(
            name, "near-duplicate by words", f"{other.question_id}, cosine {pair.cosine:.3f}; not judged"
        )
    return found
