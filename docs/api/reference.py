"""The Python API's reference, made from the source: every name that a package offers, with its docstring.

What is public is what stands in the ``__all__`` of a package (a folder's ``__init__.py``). Nothing is imported, so
that no optional package is needed::

    python docs/api/reference.py            write docs/api/*.md
    python docs/api/reference.py --check    fail where they are not current
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = [
    "ROOT",
    "Definition",
    "Entry",
    "Section",
    "find_definition",
    "public_names",
    "read_docstring",
    "render_pages",
]

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "calibration_sets": "What people said: sets, items, labels, scales, references.",
    "graders": "Who judges: prompts, sampling, parsing, models.",
    "experiments": "What is asked: experiments, runs, reports, frames.",
    "experiments.stats": "Statistics: plain labels and numbers in, estimates out.",
}
"""Package to what its page says first; a package's page holds those below it that have none of their own."""

_HEAD = "<!-- Made by docs/api/reference.py from the docstrings; change those. -->"
_ROLE = re.compile(r":(?:func|class|mod|meth|data|attr):`~?([^`]+)`")
_FIELD = (ast.AnnAssign,)

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a docstring's section: the names or types before its text."""

    head: str
    text: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names that stand in front, without types."""
        return tuple(name.strip() for name in self.head.partition(" : ")[0].split(","))


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a docstring, in NumPy's form: as text, and as entries where it is a list."""

    title: str
    text: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a public name is defined, and what it is there; ``docstring`` is empty where it has none."""

    module: str
    name: str
    node: Documented
    docstring: str


@cache
def parse_module(module: str) -> ast.Module:
    """The syntax tree of one of our modules or packages."""
    path = ROOT / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def public_names(module: str) -> tuple[str, ...]:
    """The names in a module's ``__all__``; none where it has no such list."""
    for node in parse_module(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
    return ()


def find_definition(module: str, name: str) -> Definition:
    """Follow a name to where it is defined.

    Raises
    ------
    LookupError
        If the module neither defines nor imports it.
    """
    tree = parse_module(module)
    for place, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return Definition(module, name, node, ast.get_docstring(node) or "")
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in _targets(node):
            return Definition(module, name, node, _text_below(tree.body, place))
    for inner in ast.walk(tree):
        if isinstance(inner, ast.ImportFrom) and inner.module and name in {entry.name for entry in inner.names}:
            return find_definition(inner.module, name)
    raise LookupError(f"{module}: {name!r} in __all__, not defined; expected a definition or an import")


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _text_below(body: Sequence[ast.stmt], place: int) -> str:
    """The text literal that stands below a constant."""
    below = body[place + 1] if place + 1 < len(body) else None
    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
        return inspect.cleandoc(below.value.value)
    return ""


def read_docstring(docstring: str) -> tuple[str, tuple[Section, ...]]:
    """The text before the first section, and the sections."""
    lines = inspect.cleandoc(docstring).splitlines()
    starts = [place for place in range(len(lines) - 1) if re.fullmatch(r"-{3,}", lines[place + 1]) and lines[place]]
    text = "\n".join(lines[: starts[0]] if starts else lines).strip()
    ends = [*starts[1:], len(lines)] if starts else []
    sections = [
        Section(
            lines[start].strip(), "\n".join(lines[start + 2 : end]).strip(), tuple(_entries(lines[start + 2 : end]))
        )
        for start, end in zip(starts, ends, strict=True)
    ]
    return text, tuple(sections)


def _entries(lines: Sequence[str]) -> Iterator[Entry]:
    head = ""
    below: list[str] = []
    for line in [*lines, "end"]:
        if line and not line[0].isspace():
            if head:
                yield Entry(head, inspect.cleandoc("\n".join(below)).strip())
            head, below = line, []
        else:
            below.append(line)


def render_pages() -> Mapping[str, str]:
    """File name to text of every page."""
    index = [f"- [`{package}`]({package}.md): {about}" for package, about in PAGES.items()]
    return {f"{package}.md": _render_page(package, index) for package in PAGES}


def _render_page(package: str, index: Sequence[str]) -> str:
    parts = [_HEAD, f"# `{package}`", PAGES[package], "\n".join(index)]
    for part in _packages_of(package):
        parts += [f"## `{part}`", _markdown(ast.get_docstring(parse_module(part)) or "")]
        for name in public_names(part):
            found = find_definition(part, name)
            parts.append(_render_name(part, found))
    return "\n\n".join(parts) + "\n"


def _packages_of(page: str) -> Iterator[str]:
    """The packages of a page that offer names, the page's own first."""
    for package in _all_packages():
        owner = max((name for name in PAGES if f"{package}.".startswith(f"{name}.")), key=len)
        if owner == page:
            yield package


@cache
def _all_packages() -> tuple[str, ...]:
    tops = [name for name in PAGES if "." not in name]
    files = [file for top in tops for file in sorted((ROOT / top).rglob("__init__.py"))]
    names = [".".join(file.parent.relative_to(ROOT).parts) for file in files]
    return tuple(name for name in names if public_names(name))


def _render_name(package: str, found: Definition) -> str:
    """The whole entry in the package nearest to the definition; elsewhere where that is."""
    offering = [one for one in _all_packages() if found.name in public_names(one)]
    same = [one for one in offering if find_definition(one, found.name).module == found.module]
    home = max(same, key=len)
    if home != package:
        return f"### `{found.name}`\n\nSee `{home}`."
    return f"### `{found.name}`\n\n{_code(_declare(found.node))}\n\n{_markdown(found.docstring)}{_methods(found.node)}"


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _declare(node: Documented) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _signature(node)
    if isinstance(node, ast.ClassDef):
        bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
        decorators = [f"@{ast.unparse(one)}" for one in node.decorator_list]
        fields = [f"    {ast.unparse(one)}" for one in node.body if isinstance(one, _FIELD) and _is_public(one)]
        start = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
        made = [] if start is None else [f"    {_signature(start)}"]
        return "\n".join([*decorators, f"class {node.name}{bases}:", *(fields + made or ["    ..."])])
    written = ast.unparse(node)
    return written if len(written) <= 300 else f"{written[:297]}..."


def _is_public(node: ast.AnnAssign) -> bool:
    return not ast.unparse(node.target).startswith("_")


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    whole = f"{kind} {node.name}({ast.unparse(node.args)}){returns}"
    if len(whole) <= 100:
        return whole
    return f"{kind} {node.name}(\n    {_broken(ast.unparse(node.args))},\n){returns}"


def _broken(arguments: str) -> str:
    """One argument a line; commas inside of brackets and texts stay."""
    depth, quote = 0, ""
    out: list[str] = []
    for char in arguments:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        depth += (char in "([{") - (char in ")]}") if not quote else 0
        out.append("\n    " if char == " " and out and out[-1] == "," and not depth and not quote else char)
    return "".join(out)


def _methods(node: Documented) -> str:
    if not isinstance(node, ast.ClassDef):
        return ""
    shown = []
    for one in node.body:
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) or one.name.startswith("_"):
            continue
        kinds = {ast.unparse(decorator) for decorator in one.decorator_list}
        head = f"`{one.name}`" if kinds & {"property", "cached_property"} else f"`{_signature(one)[4:]}`"
        text, *rest = _markdown(ast.get_docstring(one) or "").split("\n\n")
        shown.append(_indented("\n\n".join([f"- {' '.join(head.split())}: {text}", *rest])))
    return "".join(f"\n\n{one}" for one in shown)


def _markdown(docstring: str) -> str:
    """NumPy's form in Markdown."""
    text, sections = read_docstring(docstring)
    parts = [_inline(text)]
    for section in sections:
        entries = [_indented(f"- `{one.head}`: {_inline(one.text)}") for one in section.entries]
        told = "\n".join(entries) if all(one.text for one in section.entries) else _inline(section.text)
        parts.append(f"**{section.title}**\n\n{told}")
    return "\n\n".join(part for part in parts if part)


def _indented(text: str) -> str:
    """An entry of a list: what stands below its first line belongs to it."""
    return re.sub(r"\n(?=.)", "\n  ", text)


def _inline(text: str) -> str:
    shown = _ROLE.sub(r"`\1`", text).replace("``", "`")
    return re.sub(r"::$", ":", shown, flags=re.MULTILINE)


def main() -> int:
    """Write the pages, or say which are not current."""
    parser = argparse.ArgumentParser(description="Make docs/api/*.md from the docstrings.")
    parser.add_argument("--check", action="store_true", help="fail where a page is not current, and write nothing")
    check = parser.parse_args().check
    folder, stale = Path(__file__).parent, []
    for name, text in render_pages().items():
        page = folder / name
        if check and (not page.is_file() or page.read_text(encoding="utf-8") != text):
            stale.append(name)
        elif not check:
            page.write_text(text, encoding="utf-8")
    if stale:
        print(f"not current: {', '.join(stale)}; run python docs/api/reference.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
