"""How a p-value is printed."""

from __future__ import annotations

__all__ = ["p_text"]


def p_text(p_value: float | None) -> str:
    """Four digits; never zero, and a dash where the test is not defined."""
    return "-" if p_value is None else "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"
