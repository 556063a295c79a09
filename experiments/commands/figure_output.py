"""Figures of a run, to a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.analyses.run_decisions import decide_run
from experiments.analyses.scores.scoring_results import Scoring
from experiments.plots.folder import make_folder
from experiments.plots.installed import check_plots_installed
from experiments.reports.escaping import visible
from experiments.reports.figures import listing
from experiments.reports.inputs import RunData
from experiments.specs.decisions import DecisionSpecs

if TYPE_CHECKING:
    from experiments.plots.figure import Figure

__all__ = ["FiguresOption", "check_figures", "write_run_figures", "write_score_figures"]

MOST_NAMED = 10
"""Characters without a font that are named."""

FiguresOption = Annotated[
    Path | None,
    typer.Option("--figures", metavar="DIR", help="Write its figures there too, each as SVG, PDF and CSV."),
]


def check_figures(folder: Path) -> None:
    """Check, before anything is computed, that figures can be drawn and go to a folder.

    Raises
    ------
    ExperimentError
        If a library is not installed, or the folder cannot be made or written.
    """
    check_plots_installed("--figures")
    make_folder(folder)


def write_run_figures(
    data: RunData, report: Mapping[str, Any] | None, specs: DecisionSpecs, folder: Path, *, level: float
) -> None:
    """Write the figures of a run, and tell which there are and why one is not.

    Raises
    ------
    ExperimentError
        If a file cannot be written.
    """
    # The libraries that draw take a second to load, and are optional.
    from experiments.plots.report_figures import build_figures

    decided = decide_run(data, specs, level=level)
    for note in decided.notes:
        typer.echo(f"no figure of it: {visible(note)}", err=True)
    _write(build_figures(data, report, choice=decided.choice, wordings=decided.wordings), data, folder)


def write_score_figures(data: RunData, scoring: Scoring, folder: Path) -> None:
    """Write the figure of a benchmark's scores; raises as :func:`write_run_figures`."""
    from experiments.plots.report_figures import build_figures

    _write(build_figures(data, None, scoring=scoring), data, folder)


def _write(figures: Sequence[Figure], data: RunData, folder: Path) -> None:
    from experiments.plots.figure import write_figures
    from experiments.plots.missing_glyphs import missing_glyphs

    if not figures:
        typer.echo(f"no figures: {visible(data.run_id)} has no data for any", err=True)
        return
    written = write_figures(figures, folder)
    names = ", ".join(figure.name for figure in figures)
    number = "1 figure" if len(figures) == 1 else f"{len(figures)} figures"
    typer.echo(f"wrote {number} to {folder}, each as SVG, PDF and CSV: {names}", err=True)
    missing = missing_glyphs(path.read_text(encoding="utf-8") for path in written if path.suffix == ".svg")
    if missing:
        typer.echo(_boxes_text(missing), err=True)


def _boxes_text(missing: Sequence[str]) -> str:
    shown = listing([f"{char} U+{ord(char):04X}" for char in missing[:MOST_NAMED]])
    more = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
    return f"no font of this machine has {shown}{more}: the PDFs show boxes; a font with them, installed, is embedded"
