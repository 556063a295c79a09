"""A figure, and its forms: SVG in a page's colours, and files for a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import vl_convert

from experiments.errors import ExperimentError
from experiments.plots.colours import for_page, for_print
from experiments.plots.drawing import FONT
from experiments.plots.folder import make_folder
from experiments.plots.text_widths import text_width
from experiments.reports.escaping import visible

__all__ = ["Figure", "render_svg", "write_figures"]

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_MARK = "graphics-symbol"
_USUAL = {"opacity": "1", "font-family": FONT}
"""Attributes that say what holds anyway."""

_PLACES = {"d", "transform", "x2", "y2"}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
"""Below a hundredth of a pixel nothing is seen, and two machines need not agree."""

_LENGTH = re.compile(r' textLength="[^"]*" lengthAdjust="[^"]*"')
"""A PDF has the font itself."""

_ENTRIES = re.compile(rb"(?:^ +/\w+ \d+ 0 R\n){2,}", re.MULTILINE)
_FORMULA_STARTS = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes
    ----------
    name
        Stem of its files.
    title
        What it shows, in a line.
    description
        What a reader who cannot see it is told: its numbers, in a few sentences.
    table
        The data as they are drawn.
    chart
        The drawing, in stand-ins of colours.
    cut_names
        Names that are cut in the drawing, to the whole ones.
    """

    name: str
    title: str
    description: str
    table: pd.DataFrame
    chart: alt.TopLevelMixin
    cut_names: Mapping[str, str] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """The line below the drawing; empty where there is none."""
        title = getattr(self.chart, "title", None)
        return str(title["text"]) if isinstance(title, alt.TitleParams) else ""


def render_svg(figure: Figure) -> str:
    """A figure for a page: colours are CSS variables, marks have ``aria-label`` and lead to their items.

    Names that are cut have the whole one in a ``title`` of their text. Element ids begin with the figure's name. The
    note is left to the page, whose lines fit its width.
    """
    spec = figure.chart.to_dict()
    spec.pop("title", None)
    return for_page(_draw(figure, spec))


def write_figures(figures: Sequence[Figure], folder: Path) -> tuple[Path, ...]:
    """Write each figure as SVG and PDF in print colours, and its data as CSV; other files of the folder stay.

    Returns
    -------
    tuple of Path
        The files, in the order of the figures.

    Raises
    ------
    ExperimentError
        If the folder or a file cannot be written.
    """
    make_folder(folder)
    return tuple(_write(folder, name, content) for figure in figures for name, content in _files(figure))


def _files(figure: Figure) -> Iterator[tuple[str, bytes]]:
    svg = _printed(figure)
    yield f"{figure.name}.svg", svg.encode()
    yield f"{figure.name}.pdf", _sort_entries(bytes(vl_convert.svg_to_pdf(_LENGTH.sub("", svg))))
    yield f"{figure.name}.csv", _as_csv(figure.table).encode()


def _sort_entries(pdf: bytes) -> bytes:
    """Entries of dictionaries in one order, whatever the converter's hashes: they mean the same, in as many bytes.

    Of several fonts it would also write the first that comes, so all text of a figure is in one.
    """
    return _ENTRIES.sub(lambda entries: b"".join(sorted(entries.group().splitlines(keepends=True))), pdf)


def _write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    partial = folder / f".{name}.part"
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        raise ExperimentError(f"--figures {path}: {error.strerror}; expected a file that can be written") from error
    finally:
        partial.unlink(missing_ok=True)
    return path


def _printed(figure: Figure) -> str:
    """Without links, which lead nowhere on paper."""
    return for_print(_draw(figure, _without_links(figure.chart.to_dict())))


def _as_csv(table: pd.DataFrame) -> str:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    words = table.select_dtypes(exclude="number").columns
    return table.assign(**{name: table[name].map(_plain_cell) for name in words}).to_csv(
        index=False, lineterminator="\n"
    )


def _plain_cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA_STARTS) else value


def _without_links(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {name: _without_links(inner) for name, inner in spec.items() if name != "href"}
    return [_without_links(inner) for inner in spec] if isinstance(spec, list) else spec


def _draw(figure: Figure, spec: dict[str, Any]) -> str:
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec))
    _drop_empty(root)
    _unlink(root)
    for element in root.iter():
        _strip(element)
    links = list(root.iter(f"{{{_SVG}}}a"))
    for link in links:
        _own_link(link)
    for text in root.iter(f"{{{_SVG}}}text"):
        _fix_width(text)
        _name_if_cut(text, figure.cut_names)
    _tell(root, figure, role="graphics-document" if links else "img")
    return _as_text(root)


def _drop_empty(parent: ElementTree.Element) -> None:
    """Paths that the renderer leaves for a mouse to meet."""
    for child in list(parent):
        bare = child.get("class") == "background" and not {"fill", "stroke"} & set(child.attrib)
        if bare or child.get("display") == "none" or child.get("fill") == "transparent":
            parent.remove(child)
        else:
            _drop_empty(child)


def _unlink(parent: ElementTree.Element) -> None:
    """A mark without an address is a link to nothing for the renderer: leave the mark alone."""
    for place, child in enumerate(parent):
        _unlink(child)
        if child.tag == f"{{{_SVG}}}a" and "#" not in child.attrib[f"{{{_XLINK}}}href"]:
            (parent[place],) = child


def _strip(element: ElementTree.Element) -> None:
    """Leave what is drawn, and of what is told to a reader only what a mark says."""
    told = element.attrib.pop("aria-label", None) if element.get("role") == _MARK else None
    is_mark = str(element.get("aria-roledescription")).split(" ")[0] not in ("axis", "title", "legend", "header")
    for name in ("class", "role", "aria-hidden", "aria-roledescription", "pointer-events"):
        element.attrib.pop(name, None)
    for name, usual in _USUAL.items():
        if element.get(name) == usual:
            del element.attrib[name]
    for name in _PLACES & set(element.attrib):
        element.set(name, _LONG_NUMBER.sub(_round, element.attrib[name]))
    if told is not None and is_mark:
        element.set("role", _MARK)
        element.set("aria-label", told)


def _round(number: re.Match[str]) -> str:
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")


def _own_link(link: ElementTree.Element) -> None:
    """The renderer makes an address absolute, with a base of its own: ours begins at ``#``. A link tells its mark."""
    link.set("href", f"#{link.attrib.pop(f'{{{_XLINK}}}href').partition('#')[2]}")
    for mark in link:
        told = mark.attrib.pop("aria-label", None)
        mark.attrib.pop("role", None)
        if told is not None:
            link.set("aria-label", told)


def _fix_width(text: ElementTree.Element) -> None:
    """Another font is stretched to what the drawing has room for."""
    width = text_width(text.text or "", float(text.get("font-size", "0px").removesuffix("px")))
    if width:
        text.set("textLength", f"{width:.1f}")
        text.set("lengthAdjust", "spacingAndGlyphs")


def _name_if_cut(text: ElementTree.Element, cut_names: Mapping[str, str]) -> None:
    whole = cut_names.get(text.text or "")
    if whole is not None:
        ElementTree.SubElement(text, f"{{{_SVG}}}title").text = whole


def _tell(root: ElementTree.Element, figure: Figure, *, role: str) -> None:
    """Title and description come first; ids are the figure's, so that several stand on one page."""
    root.set("role", role)
    root.set("font-family", FONT)
    for place, (kind, words) in enumerate((("title", figure.title), ("desc", figure.description))):
        told = ElementTree.Element(f"{{{_SVG}}}{kind}", {"id": f"{figure.name}-{kind}"})
        told.text = visible(words)
        root.insert(place, told)
    root.set("aria-labelledby", f"{figure.name}-title")
    root.set("aria-describedby", f"{figure.name}-desc")


def _as_text(root: ElementTree.Element) -> str:
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode") + "\n"
