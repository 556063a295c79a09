"""Student's tests read off an estimate whose interval is Student's on a cluster-robust standard error."""

from __future__ import annotations

from typing import Literal

from scipy import special

from experiments.stats.estimate import Estimate

__all__ = ["standard_error", "student_p_value"]

Alternative = Literal["two-sided", "greater", "less"]


def standard_error(estimate: Estimate) -> float | None:
    """Standard error behind an interval of method ``student-clustered``; ``None`` for any other.

    The interval is the value plus and minus Student's quantile with ``clusters - 1`` degrees of freedom times it.
    """
    if estimate.method != "student-clustered" or estimate.low is None or estimate.high is None:
        return None
    quantile = float(special.stdtrit(estimate.clusters - 1, (1 + estimate.level) / 2))
    return (estimate.high - estimate.low) / (2 * quantile)


def student_p_value(estimate: Estimate, *, null: float = 0.0, alternative: Alternative = "two-sided") -> float | None:
    """P-value of the hypothesis that the mean is ``null``, by Student's t with ``clusters - 1`` degrees of freedom.

    Parameters
    ----------
    estimate
        A mean from :func:`experiments.stats.clusters.clustered_mean.clustered_mean`.
    null
        The hypothetical mean.
    alternative
        ``greater`` or ``less`` for a one-sided test.

    Returns
    -------
    ``None`` where no standard error is defined: no items, one question, or questions that all agree.
    """
    error = standard_error(estimate)
    if error is None or estimate.value is None:
        return None
    statistic = (estimate.value - null) / error
    if alternative == "two-sided":
        return min(1.0, 2 * float(special.stdtr(estimate.clusters - 1, -abs(statistic))))
    return float(special.stdtr(estimate.clusters - 1, -statistic if alternative == "greater" else statistic))
