"""Stage 2: of questions whose embeddings are nearer than a threshold, one is kept."""

from __future__ import annotations

from collections.abc import Sequence

from calibration_sets.curation.embedders import Embedder, check_vectors
from calibration_sets.curation.question_file import question_digest
from calibration_sets.curation.reference_responses import ReferenceResponses, order_by_failure
from calibration_sets.curation.similarity import choose_apart
from calibration_sets.curation.stage_result import Drop, StageResult, keep_chosen
from calibration_sets.question import Question

__all__ = ["drop_semantic_duplicates"]


def drop_semantic_duplicates(
    questions: Sequence[Question],
    responses: ReferenceResponses,
    embedder: Embedder,
    *,
    threshold: float,
    seed: int,
) -> StageResult:
    """Keep questions in the order of preference, and none that is nearer than ``threshold`` to one that is kept.

    The embedder sees the texts in an order that their contents give, since some depend on it.
    """
    if not questions:
        return StageResult(())
    ordered = sorted(questions, key=lambda one: (question_digest(one), one.question_id))
    texts = [question.question for question in ordered]
    vectors = check_vectors(embedder.embed(texts), len(texts), embedder.name)
    rows = {question.question_id: row for row, question in enumerate(ordered)}
    preferred = [rows[one.question_id] for one in order_by_failure(ordered, responses, seed=seed)]
    drops: dict[str, Drop] = {}
    for row, pair in choose_apart(vectors, preferred, threshold=threshold).items():
        name, other = ordered[row].question_id, ordered[pair.second if pair.first == row else pair.first]
        drops[name] = Drop(name, "near-duplicate by meaning", f"{other.question_id}, cosine {pair.cosine:.3f}")
    n_nothing = int((~vectors.any(axis=1)).sum())
    nothing = [f"{n_nothing} questions whose vector is all zeros: near nothing, kept"] if n_nothing else []
    return keep_chosen(questions, drops, notes=[f"embedder {embedder.name}", *nothing])
