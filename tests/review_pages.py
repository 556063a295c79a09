"""Small reviews for tests of the labelling pages, in process and as a server of their own."""

from __future__ import annotations

import html
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.testclient import TestClient

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA, LabelScale
from calibration_sets.writer import write_set
from experiments.review.app import build_app
from experiments.review.desk import Desk
from experiments.review.label_store import LabelStore
from experiments.review.security import AccessRules
from experiments.review.work_list import ReviewPlan, plan_set_review

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = re.compile(r"http://\S+")
HOST = "http://localhost:8765"

HOSTILE = (
    "<script>document.title='ran'; alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x dur=1s></svg>",
    "<a href='javascript:alert(1)'>click</a> javascript:alert(1)",
    '"><button autofocus onfocus=alert(1)>x</button>',
    "'\" onmouseover=alert(1) x='",
    "</div></section></main><script src=//example.test/x.js></script>",
    "</textarea><script>alert(1)</script>",
    "{{ 7*7 }} {% raw %} ${7*7} #{7*7} <%= 7*7 %> {{constructor.constructor('alert(1)')()}}",
    "<p hx-get='/progress' hx-trigger='load' hx-on:click='alert(1)' data-hx-post='/undo' hx-swap=x>x",
    "<hx-partial hx-target='#page'><script>alert(1)</script></hx-partial>",
    "<head><title>taken</title></head><body onload=alert(1)>",
    "<style>*{display:none}</style><link rel=stylesheet href=//example.test/x.css>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe><object data=x></object><base href=//example.test/>",
    "<form action=/undo method=post><input name=label value=CORRECT autofocus><button>label me</button></form>",
    "<meta http-equiv=refresh content='0;url=//example.test'>",
    "<template shadowrootmode=open><script>alert(1)</script></template>",
    "\x1b[31mred\x1b[0m \x00 \x07 \u202eesrever\u202c \u200bhidden \u2028 line",
    "&lt;script&gt; &amp;amp; &#60;b&#62;",
    "-->]]><!--<b>",
    "=cmd|' /C calc'!A0",
    "x" * 20000,
    "",
    "اَلْعَرَبِيَّةُ and עברית 👩‍👩‍👧 中文",
)
"""Responses that would act if anything took them for more than text."""


def make_set(
    responses: Sequence[str] = (), *, n: int = 6, scale: LabelScale = SIMPLEQA, name: str = "small"
) -> CalibrationSet:
    """A set without labels: ``n`` plain items, or one for each response, two of a question each."""
    texts = responses or [f"answer {place}" for place in range(n)]
    items = tuple(
        Item(
            item_id=f"i{place:02}",
            question=f"Which number is number {place}?",
            reference=parse_reference(f"{place + 100} metres (acceptable range: anything between 90 and 200 metres)"),
            response=text,
            cluster_id=f"q{place // 2}",
        )
        for place, text in enumerate(texts)
    )
    return CalibrationSet(name, "1.0.0", "simpleqa@1.0.0", scale, "human", "CC0-1.0", "made up", "Made up.", items, ())


def make_plan(calibration_set: CalibrationSet | None = None, *, double: float = 0.0, seed: int = 0) -> ReviewPlan:
    """A review of a set."""
    return plan_set_review(calibration_set or make_set(), double_share=double, seed=seed)


def with_verdicts(plan: ReviewPlan) -> ReviewPlan:
    """The same, and a grader that said something of each item."""
    return ReviewPlan(plan.review, {digest: {"grader/one": "CORRECT 3"} for digest in plan.review.items})


def open_client(desk: Desk, rules: AccessRules | None = None) -> TestClient:
    """A browser that sends what a browser sends with a form of our own pages."""
    app = build_app(desk, rules or AccessRules())
    return TestClient(app, base_url=HOST, headers={"origin": HOST}, follow_redirects=True)


def open_desk(folder: Path, plan: ReviewPlan | None = None, *, show_verdicts: bool = False) -> Desk:
    """A desk on a store of its own."""
    return Desk(LabelStore(folder / "labels.sqlite"), plan or make_plan(), show_verdicts=show_verdicts)


def fields_of(page: str) -> dict[str, str]:
    """The hidden fields of the form that answers."""
    form = page.partition('<form class="answer"')[2].partition("</form>")[0]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)
    return {name: html.unescape(value) for name, value in found}


def page_of(client: TestClient, rater: str = "Ann", path: str = "/label", **more: int) -> str:
    """The page that a rater is shown."""
    answer = client.get(path, params={"rater": rater, **more})
    assert answer.status_code == 200, answer.text
    return answer.text


def send(client: TestClient, page: str, path: str = "/label", **fields: str) -> str:
    """The page that follows when the form of a page is sent."""
    answer = client.post(path, data={**fields_of(page), **fields})
    assert answer.status_code == 200, answer.text
    return answer.text


@dataclass
class ReviewServer:
    """``autorater review`` in a process of its own; it can be killed and started again on the same port."""

    folder: Path
    arguments: tuple[str, ...]
    port: int = 0
    process: subprocess.Popen[str] | None = None
    url: str = ""

    def start(self) -> str:
        """The address that it printed."""
        command = [sys.executable, "-m", "cli", "review", *self.arguments, "--port", str(self.port)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := ADDRESS.search(line):
                self.url = found.group()
                self.port = int(re.search(r":(\d+)/", self.url)[1])  # type: ignore[index]
                return self.url
        raise AssertionError(f"no address; exit code {self.process.wait()}")

    def kill(self) -> None:
        """As a crash would."""
        self._signal(signal.SIGKILL)

    def interrupt(self) -> str:
        """As Ctrl-C would; what it printed last."""
        self._signal(signal.SIGINT, wait=False)
        assert self.process is not None
        said, _ = self.process.communicate(timeout=60)
        return said

    def _signal(self, number: signal.Signals, *, wait: bool = True) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        if wait:
            self.process.communicate(timeout=60)

    def stop(self) -> None:
        """Leave nothing behind."""
        if self.process is not None and self.process.poll() is None:
            self.kill()


def write_small_set(folder: Path, calibration_set: CalibrationSet) -> Path:
    """The set as a folder, marked as one without labels."""
    place = folder / calibration_set.name
    write_set(calibration_set, place)
    return place
