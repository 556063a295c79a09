"""Whole-number quotas in given proportions, none larger than what there is: by largest remainders."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

__all__ = ["fill_quotas"]


def fill_quotas(
    available: Mapping[str, int], total: int, *, weights: Mapping[str, float] | None = None
) -> dict[str, int]:
    """How many to take of each group.

    Groups that have fewer than their share give all they have, and what they lack is shared among the others in
    proportion; fractions go to the largest remainders, ties to the first name.

    Parameters
    ----------
    available
        How many there are, by group.
    total
        How many to take; less comes out where the groups with a weight hold less.
    weights
        Proportions, not negative; a group that is not named has none. Without weights all groups are even.
    """
    share = {name: Fraction(str(1 if weights is None else weights.get(name, 0))) for name in sorted(available)}
    quotas = dict.fromkeys(share, 0)
    open_groups = [name for name in share if share[name] > 0 and available[name] > 0]
    left = total
    while open_groups:
        unit = Fraction(left) / sum((share[name] for name in open_groups), Fraction(0))
        full = [name for name in open_groups if available[name] <= unit * share[name]]
        if not full:
            return quotas | _by_remainders({name: unit * share[name] for name in open_groups}, left)
        for name in full:
            quotas[name] = available[name]
            left -= available[name]
        open_groups = [name for name in open_groups if name not in full]
    return quotas


def _by_remainders(exact: Mapping[str, Fraction], total: int) -> dict[str, int]:
    whole = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (whole[name] - exact[name], name))
    return whole | {name: whole[name] + 1 for name in by_remainder[: total - sum(whole.values())]}
