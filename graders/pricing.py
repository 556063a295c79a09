"""What completions cost: measured tokens times the ledger's price."""

from __future__ import annotations

from dataclasses import dataclass

from graders.capabilities import Price
from graders.verdict import Usage

__all__ = ["NO_COST", "Cost", "cost"]

_A_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars; not ``complete`` where a count or a price was not known, and the amount is a lower bound."""

    amount: float
    complete: bool = True

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.amount + other.amount, self.complete and other.complete)

    def __str__(self) -> str:
        shown = f"${self.amount:,.4f}" if self.amount < 1 else f"${self.amount:,.2f}"
        return shown if self.complete else f"at least {shown}"


NO_COST = Cost(0.0)
"""Nothing, and all of it."""


def cost(usage: Usage, price: Price | None, *, batch: bool = False) -> Cost:
    """The cost of one completion's tokens.

    ``input_tokens`` includes those read from and written to a prompt cache, which are priced apart
    where the price says so. Without a price, or without a count of input or output, the cost is a
    lower bound.

    Parameters
    ----------
    usage
        Tokens as the service counted them.
    price
        Dollars a million tokens, or ``None`` where it is not known.
    batch
        Whether the tokens were used in a batch job.
    """
    if price is None:
        return Cost(0.0, complete=_is_nothing(usage))
    if price.input == price.output == 0:
        return NO_COST
    cached = usage.cached_tokens or 0
    written = usage.cache_write_tokens or 0
    plain = max(0, (usage.input_tokens or 0) - cached - written)
    dollars = (
        plain * price.input
        + cached * _or(price.cached_input, price.input)
        + written * _or(price.cache_write, price.input)
        + (usage.output_tokens or 0) * price.output
    ) / _A_MILLION
    known = usage.input_tokens is not None and usage.output_tokens is not None
    return Cost(dollars * (price.batch if batch else 1.0), known)


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _is_nothing(usage: Usage) -> bool:
    """Whether the tokens are known to be none: such a completion costs nothing at any price."""
    return usage.input_tokens == 0 and usage.output_tokens == 0
