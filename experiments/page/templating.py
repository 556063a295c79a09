"""Templates of the page, and the policy under which its script and style run and nothing else does."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from experiments.page.texts import cut, shown
from experiments.plots.colours import COLOURS
from experiments.reports.document import Bullets, Entries, Paragraph, Table

__all__ = ["content_policy", "read_script", "read_style", "render_template"]


_SCRIPTS = ("figures.js", "items.js", "form.js", "rows.js", "start.js")


def render_template(name: str, **values: Any) -> str:
    """Render a template; all that is not markup of ours is escaped, and what does not print is shown."""
    return _environment().get_template(name).render(**values)


def read_script() -> str:
    """The page's script: its parts in the order in which one needs the other."""
    return "\n".join(map(_read, _SCRIPTS))


def read_style() -> str:
    """The page's style, with the colours of figures in both themes."""
    colours = "".join(f"--figure-{name}:light-dark({one.light},{one.dark});" for name, one in COLOURS.items())
    return f":root{{{colours}}}\n{_read('page.css')}"


def content_policy(*, script: str, style: str) -> str:
    """Nothing is loaded, sent or run but this script and this style."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("experiments.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finish,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["cut"] = cut
    kinds = {"paragraph": Paragraph, "bullets": Bullets, "table": Table, "entries": Entries}
    for name, kind in kinds.items():
        environment.tests[f"{name}_block"] = _instance_test(kind)
    return environment


def _instance_test(kind: type) -> Any:
    return lambda value: isinstance(value, kind)


def _finish(value: Any) -> Any:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _read(name: str) -> str:
    return (resources.files("experiments.page") / "static" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"
