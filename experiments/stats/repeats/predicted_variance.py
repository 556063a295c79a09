"""The variance that a rate is expected to have with other numbers of questions, items, repeats and graders.

The variance of a mean is the sum of its components, each over the number of its own levels that the mean averages
[Brennan 2001, the decision study of generalizability theory]: G questions, m items a question and R repeats an item
give ``question / G + item / (G m) + repeat / (G m R)``. Components below zero count as zero, so that no variance is
negative; with raw ones a prediction of the design at hand is the cluster-robust variance of its mean (balanced data).
"""

from __future__ import annotations

from experiments.stats.repeats.variance_components import Component, CrossedComponents, VarianceComponents

__all__ = ["predicted_crossed_variance", "predicted_difference_variance", "predicted_variance"]


def predicted_variance(components: VarianceComponents, *, questions: int, items: int, repeats: int) -> float | None:
    """Variance of one grader's mean score.

    Parameters
    ----------
    components
        From :func:`experiments.stats.repeats.variance_components` or
        :func:`experiments.stats.repeats.correctness_components`.
    questions
        Number of questions, G.
    items
        Items of each question, m.
    repeats
        Scores of each item, R.

    Returns
    -------
    float or None
        In squared units of the score. ``None`` where a component that the design divides is not defined: another
        number of repeats than one from data without repeats, or of items than one from questions with one item each.

    Raises
    ------
    ValueError
        A number below 1.
    """
    _check_design(questions=questions, items=items, repeats=repeats)
    return _total(
        _over(components.question, questions),
        _over(components.item, questions * items, absorbed=items == 1),
        _over(components.repeat, questions * items * repeats, absorbed=repeats == 1),
    )


def predicted_crossed_variance(
    components: CrossedComponents, *, graders: int, questions: int, items: int, repeats: int, same_graders: bool
) -> float | None:
    """Variance of the mean score over several graders, each of which scores every item.

    Parameters
    ----------
    components
        From :func:`experiments.stats.repeats.crossed_components` or
        :func:`experiments.stats.repeats.crossed_correctness_components`.
    graders
        Number of graders, k.
    questions, items, repeats
        As in :func:`predicted_variance`.
    same_graders
        Whether another study would use the same graders; otherwise it draws new ones, which adds ``grader / k``.

    Returns
    -------
    float or None
        As in :func:`predicted_variance`.

    Raises
    ------
    ValueError
        A number below 1.
    """
    _check_design(graders=graders, questions=questions, items=items, repeats=repeats)
    cells = graders * questions
    return _total(
        0.0 if same_graders else _over(components.grader, graders),
        _over(components.question, questions),
        _over(components.item, questions * items, absorbed=items == 1),
        _over(components.grader_question, cells),
        _over(components.grader_item, cells * items, absorbed=items == 1),
        _over(components.repeat, cells * items * repeats, absorbed=repeats == 1),
    )


def predicted_difference_variance(
    components: CrossedComponents, *, questions: int, items: int, repeats: int
) -> float | None:
    """Variance of the difference between two given graders' mean scores of the same items.

    Questions and items drop out, since both graders meet them: twice the interactions and the repeats are left.
    Parameters, returns and errors as in :func:`predicted_variance`.
    """
    _check_design(questions=questions, items=items, repeats=repeats)
    half = _total(
        _over(components.grader_question, questions),
        _over(components.grader_item, questions * items, absorbed=items == 1),
        _over(components.repeat, questions * items * repeats, absorbed=repeats == 1),
    )
    return None if half is None else 2 * half


def _over(component: Component, levels: int, *, absorbed: bool = False) -> float | None:
    """A component over its levels; one that is not defined adds nothing where the one that contains it has it all."""
    if component.truncated is None:
        return 0.0 if absorbed else None
    return component.truncated / levels


def _total(*parts: float | None) -> float | None:
    defined = [part for part in parts if part is not None]
    return sum(defined) if len(defined) == len(parts) else None


def _check_design(*, graders: int = 1, questions: int, items: int, repeats: int) -> None:
    design = {"graders": graders, "questions": questions, "items": items, "repeats": repeats}
    for name, number in design.items():
        if number < 1:
            raise ValueError(f"{name}: too few, got {number}; expected 1 or more")
