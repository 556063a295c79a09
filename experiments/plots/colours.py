"""Colours by what they mean, in a light and a dark theme.

A chart is drawn once, each colour a stand-in that occurs nowhere else, and the stand-ins are replaced: by CSS variables
for a page, by the light theme's colours for a paper. Hues are those of Okabe and Ito (2008), the light ones of the dark
theme; every one has a contrast of 3:1 or more to its background, text of 4.5:1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["COLOURS", "Colour", "for_page", "for_print", "stand_in"]


@dataclass(frozen=True, slots=True)
class Colour:
    """One colour on a light background and on a dark one, as ``#rrggbb``."""

    light: str
    dark: str


COLOURS: Mapping[str, Colour] = MappingProxyType(
    {
        "ink": Colour("#1a1a1a", "#ededed"),
        "muted": Colour("#595959", "#b8b8b8"),
        "line": Colour("#d0d0d0", "#474c52"),
        "negative": Colour("#0072b2", "#56b4e9"),
        "positive": Colour("#c44e00", "#e69f00"),
        "missing": Colour("#767676", "#9c9c9c"),
        "fill": Colour("#0072b2", "#56b4e9"),
        "rise": Colour("#0072b2", "#56b4e9"),
        "fall": Colour("#c44e00", "#e69f00"),
        "front": Colour("#00805e", "#2bc79a"),
    }
)
"""Text, lesser text, lines of axes; false negatives, false positives, what is missing; shares; effects; the front."""


def stand_in(name: str) -> str:
    """What a chart is drawn with in place of a colour; ``KeyError`` for an unknown name."""
    return _STAND_INS[name]


def for_page(svg: str) -> str:
    """Stand-ins as ``var(--figure-NAME, LIGHT)``, which a page sets for its themes."""
    return _replace(svg, {name: f"var(--figure-{name}, {colour.light})" for name, colour in COLOURS.items()})


def for_print(svg: str) -> str:
    """Stand-ins as the light theme's colours."""
    return _replace(svg, {name: colour.light for name, colour in COLOURS.items()})


_STAND_INS = {name: f"#fa{place:02x}af" for place, name in enumerate(COLOURS, start=1)}


def _replace(svg: str, shown: Mapping[str, str]) -> str:
    for name, mark in _STAND_INS.items():
        svg = svg.replace(f'"{mark}"', f'"{shown[name]}"')
    return svg
