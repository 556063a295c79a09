"""Pages of made-up runs, and a browser in which nothing may go wrong unnoticed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from figure_runs import make_grader, make_items, make_run, make_truths

from calibration_sets.item import HumanLabel
from calibration_sets.references.reference_parser import parse_reference
from experiments.analyses.run_decisions import decide_run
from experiments.page.build import PageInputs, build_page
from experiments.page.item_table import build_item_table
from experiments.plots.report_figures import build_figures
from experiments.reports import build_report
from experiments.reports.inputs import RunData
from experiments.specs.decisions import DecisionSpecs

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>--><img src=x onerror=alert(2)>",
    "<svg><script>alert(3)</script><a xlink:href='javascript:alert(3)'><text>x</text></a></svg>",
    "\"><input autofocus onfocus=alert(4)> ' onpointerenter=alert(4) x='",
    "[go](javascript:alert(5)) javascript:alert(5)",
    "{{ 6*7 }} {% raw %} ${6*7} <%= 6*7 %> &lt;b&gt;&#x3c;i&#x3e;",
    "</noscript></textarea></title></style></table><iframe srcdoc='<script>alert(7)</script>'>",
    "<base href=//example.test/><meta http-equiv=refresh content='0;url=//example.test'><link rel=stylesheet href=//x>",
    "left \u202egnorw\u202c \u2066x\u2069 \u200b\u0000\u0007\x1b[31m\u2028 end",
    "]]><style>*{display:none}</style>\\u003cscript\\u003e\r\nsecond line\ttab",
)
"""Texts that would act if anything took them for more than text."""


def reply_texts(data: RunData, extra: Sequence[str] = ()) -> Mapping[str, Mapping[str, list[str | None]]]:
    """A short reply for each verdict that has one, as if it had been stored."""
    draw = random.Random(1)
    words = ("right", "wrong", "as the reference says", "the response", "states", "another number", "so")
    found: dict[str, dict[str, list[str | None]]] = {}
    for results in data.graders:
        own = found.setdefault(results.grader_id, {})
        for place, verdict in enumerate(results.verdicts):
            text = " ".join(draw.choices(words, k=draw.randint(3, 12))) + f" {verdict.label}"
            text = extra[place % len(extra)] if extra else text
            own.setdefault(verdict.item_digest, []).append(None if verdict.failure == "not_answered" else text)
    return found


def page_of(
    data: RunData,
    replies: Mapping[str, Mapping[str, Sequence[str | None]]] | None = None,
    specs: DecisionSpecs | None = None,
) -> str:
    """The page of a run."""
    report, table = build_report(data), build_item_table(data)
    decided = decide_run(data, specs or DecisionSpecs(), level=0.95)
    figures = build_figures(data, None if data.answering else report, choice=decided.choice, wordings=decided.wordings)
    n_read = len(table.rows) if replies else 0
    return build_page(PageInputs(data, report, decided, figures, table, replies or {}, n_read))


def hostile_run() -> RunData:
    """A run in which every text that somebody else writes is hostile: items, raters, models, kinds, labels' notes."""
    n = len(HOSTILE)
    items = [
        replace(
            item,
            item_id=f"{HOSTILE[place % n]} {place}",
            question=HOSTILE[place % n],
            reference=parse_reference("100 metres (acceptable range: anything between 90 and 110 metres)")
            if place % 2
            else replace(item.reference, text=HOSTILE[(place + 1) % n]),
            response=f"{HOSTILE[(place + 2) % n]} {place}",
            kind=HOSTILE[(place // 4) % n],
            topic=HOSTILE[(place // 4 + 3) % n],
            answer_type=HOSTILE[(place // 4 + 5) % n],
        )
        for place, item in enumerate(make_items(4 * n))
    ]
    truths = make_truths(items)
    graders = [
        make_grader(
            f"{HOSTILE[place]}@1.0.0#aa", f"x/{HOSTILE[place + 3]}", items, truths, repeats=4, missing=0.1, seed=place
        )
        for place in range(3)
    ]
    made = make_run(items, truths, graders)
    labels = tuple(
        HumanLabel(one.item_id, one.item_digest, HOSTILE[place % n], one.label, one.rubric)
        for place, one in enumerate(made.calibration_set.human_labels)
    )
    chosen = replace(made.calibration_set, human_labels=labels, source=HOSTILE[0], licence=HOSTILE[1])
    return replace(made, calibration_set=chosen, run_id=f"run {HOSTILE[0]}", experiment=HOSTILE[2])


@contextmanager
def open_file(
    browser: Any, text: str, folder: Path, *, width: int = 1280, where: str = "", **options: Any
) -> Iterator[Any]:
    """A page from disk of which any console message, error, dialog or request to elsewhere fails the test."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(20_000)
    page = context.new_page()
    told: list[str] = []
    page.on("console", lambda message: told.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: told.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (told.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("popup", lambda _: told.append("popup"))
    page.on(
        "request",
        lambda request: told.append(f"request: {request.url}") if request.url.split("#")[0] != path.as_uri() else None,
    )
    page.goto(f"{path.as_uri()}{where}")
    if options.get("java_script_enabled", True):
        page.wait_for_function("document.getElementById('count').textContent !== ''")
    try:
        yield page
    finally:
        context.close()
    assert told == []
