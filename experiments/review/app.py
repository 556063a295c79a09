"""The labelling pages: a small web application over a desk. Reading changes nothing; each change is a form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from experiments.errors import ReviewError, StoreError
from experiments.review import actions
from experiments.review.desk import LONGEST_NAME, Desk, clean_name
from experiments.review.display import estimate_text
from experiments.review.forms import Answer, read_answer, read_fields
from experiments.review.item_pages import adjudication_page, label_page
from experiments.review.links import split_links
from experiments.review.page_parts import page_link
from experiments.review.progress import measure_progress
from experiments.review.review_state import ReviewState
from experiments.review.security import AccessRules, Guard

__all__ = ["build_app"]

_FOLDER = Path(__file__).parent

Act = Callable[[Desk, ReviewState, Answer], str]


def build_app(desk: Desk, rules: AccessRules, *, rater: str | None = None, rubric_text: str = "") -> Guard:
    """The application.

    Parameters
    ----------
    desk
        The review that is worked through.
    rules
        Whom it answers.
    rater
        Who labels unless another name is chosen.
    rubric_text
        What raters can read under the rubric's name.
    """
    pages = _Pages(desk, rater, rubric_text)
    post = ["POST"]
    routes = [
        Route("/", pages.start),
        Route("/people", pages.people),
        Route("/label", pages.label),
        Route("/label", pages.acting(actions.label), methods=post),
        Route("/undo", pages.acting(actions.undo), methods=post),
        Route("/reveal", pages.acting(actions.reveal), methods=post),
        Route("/adjudicate", pages.adjudicate),
        Route("/adjudicate", pages.acting(actions.adjudicate), methods=post),
        Route("/progress", pages.progress),
        Mount("/static", StaticFiles(directory=_FOLDER / "static")),
    ]
    handlers: Mapping[Any, Callable[[Request, Exception], Response | Awaitable[Response]]] = {
        ReviewError: pages.refuse,
        StoreError: pages.fail,
        HTTPException: pages.stop,
        ClientDisconnect: pages.stop,
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers), rules)


class _Pages:
    """Requests in, pages out."""

    def __init__(self, desk: Desk, rater: str | None, rubric_text: str) -> None:
        self._desk, self._rater, self._rubric_text = desk, rater, rubric_text
        self._templates = Environment(
            loader=FileSystemLoader(_FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
        )
        self._templates.filters["split_links"] = split_links

    def start(self, request: Request) -> Response:
        """The rater that was named at the start goes to work at once."""
        if self._rater is None:
            return self.people(request)
        return RedirectResponse(page_link("/label", self._rater), status_code=303)

    def people(self, _request: Request) -> Response:
        """Who labels?"""
        state = self._desk.read()
        return self._render(
            "people.html",
            state,
            rubric=self._desk.review.calibration_set.rubric,
            n_items=len(state.places),
            n_double=sum(state.review.work[place].raters > 1 for place in state.places.values()),
            has_verdicts=self._desk.has_verdicts,
            blind=not self._desk.show_verdicts,
            longest_name=LONGEST_NAME,
            raters=[{"name": name, "href": page_link("/label", name)} for name in state.raters],
        )

    def label(self, request: Request) -> Response:
        """An item to label: the one that is asked for by its number, or the next."""
        state = self._desk.read()
        rater = self._rater_of(request, state)
        chosen = _chosen(request, state) or self._desk.hand_out(state, rater)
        page = label_page(self._desk, state, rater, chosen, rules=self._rubric_text)
        return self._render(
            "done.html" if chosen is None else "label.html", state, rater, "label", page=page.work, at=page
        )

    def adjudicate(self, request: Request) -> Response:
        """Labels that differ, for somebody to decide."""
        state = self._desk.read()
        rater = self._rater_of(request, state)
        chosen = _chosen(request, state)
        page = adjudication_page(self._desk, state, rater, chosen, rules=self._rubric_text)
        return self._render("adjudicate.html", state, rater, "adjudicate", page=page.work, at=page)

    def progress(self, request: Request) -> Response:
        """How far everybody is."""
        state = self._desk.read()
        found = self._desk.agreement(state)
        agreement = [
            {"name": "Krippendorff's alpha", "value": estimate_text(found.alpha)},
            {"name": "Fleiss' kappa", "value": estimate_text(found.kappa)},
            {"name": "Same label (pairs)", "value": estimate_text(found.raw, percent=True)},
        ]
        rater = self._rater_of(request, state)
        return self._render(
            "progress.html",
            state,
            rater,
            "progress",
            progress=measure_progress(state),
            agreement=agreement,
            agreement_items=found.raw.n,
        )

    def acting(self, act: Act) -> Callable[[Request], Awaitable[Response]]:
        """A page that takes a form: what it does is on disk before the answer begins."""

        def run(body: bytes, *, quiet: bool) -> Response:
            state = self._desk.read()
            fields = read_fields(body)
            following = act(self._desk, state, read_answer(self._desk, state, fields))
            return Response(status_code=204) if quiet else RedirectResponse(following, status_code=303)

        async def answer(request: Request) -> Response:
            body = await request.body()
            # A note that was saved on leaving its field: its page stays as it is.
            quiet = request.headers.get("hx-source", "").startswith("textarea")
            return await run_in_threadpool(run, body, quiet=quiet)

        return answer

    def refuse(self, _request: Request, error: Exception) -> Response:
        """What was asked for cannot be done."""
        return self._problem(str(error), 400)

    def fail(self, _request: Request, error: Exception) -> Response:
        """The file of labels cannot be read or written."""
        return self._problem(f"nothing was recorded. {error}", 503)

    def stop(self, _request: Request, error: Exception) -> Response:
        """No such page, or no such use of it."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        told = error.detail if isinstance(error, HTTPException) else "unknown"
        return self._problem(f"{status}: {told}", status)

    def _rater_of(self, request: Request, state: ReviewState) -> str:
        return clean_name(request.query_params.get("rater", self._rater or ""), state.raters)

    def _problem(self, text: str, status: int) -> Response:
        return self._page("problem.html", rater=None, here="", n_disagreements=0, status=status, problem=text)

    def _render(
        self, template: str, state: ReviewState, rater: str | None = None, here: str = "", **more: Any
    ) -> Response:
        return self._page(template, rater=rater, here=here, n_disagreements=len(state.disagreements()), **more)

    def _page(self, template: str, *, rater: str | None, status: int = 200, **more: Any) -> Response:
        def link(path: str) -> str:
            return page_link(path, rater or "")

        text = self._templates.get_template(template).render(
            review_name=self._desk.review.review_id, rater=rater, link=link, **more
        )
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)


def _chosen(request: Request, state: ReviewState) -> str | None:
    """The item of the number in the address, if there is one."""
    number = request.query_params.get("item")
    if number is None:
        return None
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:12]) <= len(state.places)):
        raise ReviewError(f"item {number[:20]!r}; expected a number from 1 to {len(state.places)}")
    return list(state.places)[int(number[:12]) - 1]
