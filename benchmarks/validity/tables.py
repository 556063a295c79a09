"""Markdown tables and numbers in words."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["markdown_table", "monte_carlo_error", "percent", "share", "width"]


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [list(header), ["---", *["---:"] * (len(header) - 1)], *[list(row) for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def share(value: float | None) -> str:
    """A share with three decimals and no leading zero, a dash where there is none."""
    if value is None:
        return "—"
    return f"{value:.3f}".replace("0.", ".", 1)


def percent(value: float) -> str:
    """A share as per cent."""
    return f"{100 * value:.1f}%"


def width(value: float | None) -> str:
    """A width or a bias, three significant digits."""
    return "—" if value is None else f"{value:.3g}"


def monte_carlo_error(value: float, draws: int) -> float:
    """Standard error of a share of so many independent data sets."""
    return float((value * (1 - value) / draws) ** 0.5)
