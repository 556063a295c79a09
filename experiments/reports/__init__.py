"""Reports: pure functions from a run's data to JSON values, text and Markdown."""

from __future__ import annotations

from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.render_json import render_json
from experiments.reports.render_markdown import render_markdown
from experiments.reports.render_text import render_text
from experiments.reports.report import SCHEMA, build_report

__all__ = ["SCHEMA", "GraderResults", "RunData", "build_report", "render_json", "render_markdown", "render_text"]
