"""The label that counts as right, on which error rates, choices and scores of a benchmark rest."""

from __future__ import annotations

from calibration_sets.scale import LabelScale
from calibration_sets.strict import shorten
from experiments.errors import SpecError

__all__ = ["right_label"]


def right_label(scale: LabelScale, where: str) -> str:
    """The label that counts as right.

    Raises
    ------
    SpecError
        If the scale names none; the message begins with ``where`` and says what such a scale has instead.
    """
    if scale.positive is None:
        raise SpecError(
            f"{where}: no label counts as right on the scale {shorten(scale.name)}, {list(scale.labels)}; expected "
            f"'positive' in the set's scale, or in its place {_instead(scale)}"
        )
    return scale.positive


def _instead(scale: LabelScale) -> str:
    if scale.values is not None:
        return (
            "'autorater report' (mean error, over- and under-grading) and 'autorater gate' on mean_absolute_error, "
            "bias, over_grading, under_grading or kappa"
        )
    agreement = "agreement, alpha and kappa of sets" if scale.parts is not None else "agreement, alpha and kappa"
    return f"'autorater report' ({agreement}) and 'autorater gate' on kappa"
