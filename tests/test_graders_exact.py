"""Distributions of verdicts from the log-probabilities of one reply."""

from __future__ import annotations

import pytest

from graders.exact import VerdictDistribution


def test_a_distribution_has_chances_or_a_failure() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        VerdictDistribution("d", None)
    with pytest.raises(ValueError, match="exactly one"):
        VerdictDistribution("d", {"a": 1.0}, "unparsed")
