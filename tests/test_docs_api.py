"""The Python API: its reference is current, and what the docstrings say is so."""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("calibration_sets", "graders", "experiments")
SECTIONS = {"Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "References", "Examples", "See Also"}
SELF_DESCRIBING = re.compile(r"(Table|MetaData|Annotated|typer\.Typer|\w*Option)\b")
"""Constants of these are read in their own words: columns of tables, help texts of the command line."""
ARRAYS = re.compile(r"\b(ArrayLike|NDArray|np\.ndarray)\b")
SHAPE = re.compile(
    r"\([\w+*. ]+(?:,[\w+*. ]*)*\)|\b(?:shape|[Aa]s in|[Ff]rom|one (?:a|for each|an)|each|scalar|vector|matrix)\b"
)


def load_reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("api_reference", ROOT / "docs" / "api" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["api_reference"] = module
    spec.loader.exec_module(module)
    return module


reference: Any = load_reference()


def all_modules() -> Iterator[str]:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def all_definitions() -> Iterator[Any]:
    """Every name of every ``__all__``, where it is defined."""
    for module in all_modules():
        for name in reference.public_names(module):
            found = reference.find_definition(module, name)
            if found.module == module:
                yield found


def described() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, str]]:
    """Public functions and classes with their docstrings, public methods included."""
    for found in all_definitions():
        if isinstance(found.node, ast.Assign | ast.AnnAssign):
            continue
        yield f"{found.module}.{found.name}", found.node, found.docstring
        if isinstance(found.node, ast.ClassDef):
            for node in found.node.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                    yield f"{found.module}.{found.name}.{node.name}", node, ast.get_docstring(node) or ""


def sections_of(docstring: str) -> dict[str, Any]:
    return {section.title: section for section in reference.read_docstring(docstring)[1]}


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """Name to annotation, without ``self``."""
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *([args.vararg] if args.vararg else [])]
    return {arg.arg: ast.unparse(arg.annotation) if arg.annotation else "" for arg in every if arg.arg != "self"}


def fields_of(node: ast.ClassDef) -> set[str]:
    """What a class can be made with, or has: fields, constructor's parameters, properties."""
    found: set[str] = set()
    for one in node.body:
        if isinstance(one, ast.AnnAssign):
            found.add(ast.unparse(one.target))
        elif isinstance(one, ast.FunctionDef):
            found |= set(parameters_of(one)) if one.name == "__init__" else {one.name}
    return found


def inherited_fields(module: str, node: ast.ClassDef) -> set[str]:
    found = fields_of(node)
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id not in {"Protocol", "StrEnum", "BaseModel", "Exception"}:
            try:
                above = reference.find_definition(module, base.id)
            except (LookupError, FileNotFoundError):
                continue
            if isinstance(above.node, ast.ClassDef):
                found |= inherited_fields(above.module, above.node)
    return found


def test_the_reference_is_current() -> None:
    for name, text in reference.render_pages().items():
        page = ROOT / "docs" / "api" / name
        assert page.read_text(encoding="utf-8") == text, f"{name}: run python docs/api/reference.py"


def test_every_package_that_offers_names_is_in_the_reference() -> None:
    pages = reference.render_pages().values()
    for module in all_modules():
        if (ROOT / module.replace(".", "/")).is_dir() and reference.public_names(module):
            assert any(f"\n## `{module}`\n" in page for page in pages), module
            for name in reference.public_names(module):
                assert any(f"\n### `{name}`\n" in page for page in pages), f"{module}.{name}"


def test_every_public_name_is_defined_and_described() -> None:
    bare = [
        f"{found.module}.{found.name}"
        for found in all_definitions()
        if not found.docstring.strip() and not _describes_itself(found.node)
    ]
    assert bare == []


def _describes_itself(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return value is not None and SELF_DESCRIBING.match(ast.unparse(value)) is not None


def test_public_methods_are_described() -> None:
    assert [where for where, _, docstring in described() if not docstring.strip()] == []


def test_sections_are_known_and_have_entries() -> None:
    wrong = []
    for where, _, docstring in described():
        titles = [section.title for section in reference.read_docstring(docstring)[1]]
        wrong += [f"{where}: {title}" for title in titles if title not in SECTIONS]
        wrong += [f"{where}: {title} twice" for title in set(titles) if titles.count(title) > 1]
        for section in reference.read_docstring(docstring)[1]:
            wrong += [f"{where}: {section.title} is empty"] * (not section.text)
            if section.title in {"Parameters", "Attributes", "Raises"}:
                wrong += [f"{where}: {one.head}: no text" for one in section.entries if not one.text]
    assert wrong == []


def test_documented_parameters_exist() -> None:
    wrong = []
    for where, node, docstring in described():
        for title in ("Parameters", "Attributes"):
            section = sections_of(docstring).get(title)
            if section is None:
                continue
            module = where.rpartition(".")[0]
            known = inherited_fields(module, node) if isinstance(node, ast.ClassDef) else set(parameters_of(node))
            names = {name.lstrip("*") for entry in section.entries for name in entry.names}
            wrong += [f"{where}: {name}" for name in sorted(names - known)]
    assert wrong == []


def test_documented_errors_exist() -> None:
    wrong = []
    for where, _, docstring in described():
        section = sections_of(docstring).get("Raises")
        for name in [name for entry in section.entries for name in entry.names] if section else []:
            wrong += [f"{where}: {name}"] * (not _is_error(name, where))
    assert wrong == []


def _is_error(name: str, where: str) -> bool:
    """An exception of Python, one named in full, or one of our packages' own."""
    if re.fullmatch(r"[\w.]+", name) is None:
        return False
    homes = [f"{package}.errors" for package in PACKAGES]
    module, dot, short = name.rpartition(".")
    places = [importlib.import_module(module)] if dot else [builtins, *map(importlib.import_module, homes)]
    found = [getattr(place, short) for place in places if hasattr(place, short)]
    own = _defined_near(where, short)
    return own or any(isinstance(one, type) and issubclass(one, BaseException) for one in found)


def _defined_near(where: str, name: str) -> bool:
    """An error class of the module itself, or one that it imports."""
    for cut in (1, 2):
        module = where.rsplit(".", cut)[0]
        try:
            found = reference.find_definition(module, name)
        except (LookupError, FileNotFoundError, SyntaxError):
            continue
        return isinstance(found.node, ast.ClassDef) and "Error" in name
    return False


def test_errors_that_a_public_function_raises_are_told() -> None:
    """A ``raise`` in the body itself; what is raised further down is for people's reading to find."""
    wrong = []
    for where, node, docstring in described():
        if isinstance(node, ast.ClassDef) or ".commands" in where or docstring.startswith("As :meth:"):
            continue
        raised = {name for one in ast.walk(node) if isinstance(one, ast.Raise) and (name := _raised(one))}
        wrong += [f"{where}: {name}" for name in sorted(raised) if not _is_told(name, docstring)]
    assert wrong == []


def _is_told(name: str, docstring: str) -> bool:
    """Whether an error, or one that it is a kind of, is named."""
    errors = [importlib.import_module(f"{package}.errors") for package in PACKAGES]
    kinds = next((getattr(one, name).__mro__[:-3] for one in errors if hasattr(one, name)), ())
    return any(kind in docstring for kind in (name, *(kind.__name__ for kind in kinds)))


def _raised(node: ast.Raise) -> str | None:
    called = node.exc.func if isinstance(node.exc, ast.Call) else None
    return called.id if isinstance(called, ast.Name) and called.id[0].isupper() else None


@pytest.mark.parametrize("what", ["parameters", "results"])
def test_arrays_have_shapes(what: str) -> None:
    """Of the statistics that packages offer: an array that goes in or comes out has its shape in the docstring."""
    wrong = []
    for module in all_modules():
        if not module.startswith("experiments.stats") or not (ROOT / module.replace(".", "/")).is_dir():
            continue
        for name in reference.public_names(module):
            found = reference.find_definition(module, name)
            if isinstance(found.node, ast.FunctionDef):
                wrong += _shapeless(f"{module}.{name}", found.node, found.docstring, what)
    assert wrong == []


def _shapeless(where: str, node: ast.FunctionDef, docstring: str, what: str) -> list[str]:
    text, _ = reference.read_docstring(docstring)
    sections = sections_of(docstring)
    if what == "results":
        returns = ast.unparse(node.returns) if node.returns else ""
        told = text + "".join(f"{one.head} {one.text}" for one in getattr(sections.get("Returns"), "entries", ()))
        return [where] if ARRAYS.search(returns) and not SHAPE.search(told) else []
    told = {name: entry.text for entry in getattr(sections.get("Parameters"), "entries", ()) for name in entry.names}
    arrays = [name for name, kind in parameters_of(node).items() if ARRAYS.search(kind)]
    return [f"{where}: {name}" for name in arrays if not SHAPE.search(told.get(name, text))]


@pytest.mark.parametrize("page", ["docs/python.md", "docs/inspect.md"])
def test_what_pages_import_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
                for entry in node.names:
                    assert entry.name in reference.public_names(node.module)
