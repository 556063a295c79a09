"""The notebook of the guide: well formed, run before it was kept, and still running."""

from __future__ import annotations

import ast
import json
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "notebooks" / "analysis.ipynb"


def code_cells() -> list[dict[str, Any]]:
    read = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert read["nbformat"] == 4
    assert {cell["cell_type"] for cell in read["cells"]} == {"code", "markdown"}
    return [cell for cell in read["cells"] if cell["cell_type"] == "code"]


def plain(cell: dict[str, Any]) -> str:
    """The text of what a cell gave; empty where it gave nothing."""
    return "".join(
        "".join(one["data"]["text/plain"]) for one in cell["outputs"] if one["output_type"] == "execute_result"
    )


def test_it_was_run_from_its_beginning_without_an_error() -> None:
    cells = code_cells()
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(one["output_type"] == "execute_result" for cell in cells for one in cell["outputs"])
    assert len([cell for cell in cells if plain(cell)]) >= 5


def test_its_cells_still_run_and_give_what_they_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Jupyter: the statements of each cell in order, and the value of a last one that is an expression."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names: dict[str, Any] = {}
    with pd.option_context("display.precision", 6, "display.width", 80, "display.max_columns", 20):
        for cell in code_cells():
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "cell", "exec"), names)
            shown = "" if last is None else repr(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
            assert shown == plain(cell)
