"""Grader templates in Python source, a package, an archive, a text file or at an address; nothing is imported."""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.metadata
import inspect
import re
import tarfile
import textwrap
import urllib.error
import urllib.parse
import urllib.request
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from graders.errors import PromptError

__all__ = ["FoundTemplate", "find_templates", "read_templates"]

_LARGEST = 5_000_000  # bytes of one file that is looked into
_LARGEST_ARCHIVE = 200_000_000
_TIMEOUT = 30.0  # seconds
_LABEL_WORDS = re.compile(r"(?=.*\bCORRECT\b)(?=.*\bINCORRECT\b)(?=.*\bNOT[ _]ATTEMPTED\b)", re.DOTALL)
_PLACEHOLDERS = (("{question}",), ("{target}", "{criterion}"), ("{predicted_answer}", "{answer}"))
_INSTRUCTIONS = "{instructions}"
_LETTERED = re.compile(r"\bA: ?CORRECT\b")
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tgz")


@dataclass(frozen=True, slots=True)
class FoundTemplate:
    """A grader template and where it was: file, and the name that it is assigned to."""

    where: str
    text: str


def read_templates(source: str) -> list[FoundTemplate]:
    """Every grader template of a source.

    Parameters
    ----------
    source
        ``http(s)://`` address, path of a file, folder, wheel or source archive, or the name of an
        installed distribution or top-level package.

    Raises
    ------
    PromptError
        If the source cannot be read.
    """
    found: list[FoundTemplate] = []
    if not source.strip():
        raise PromptError("official text: no source; expected a package, file, folder or address")
    for where, content in _read_files(source):
        text = content.decode("utf-8", errors="replace")
        if where.endswith(".py"):
            found.extend(find_templates(text, where))
        elif _is_template(text):
            found.append(FoundTemplate(where, text.strip()))
    return found


def find_templates(python: str, where: str) -> list[FoundTemplate]:
    """Grader templates among the string constants of Python source, with instructions filled in."""
    if not _LABEL_WORDS.match(python):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in somebody else's source
            tree = ast.parse(python)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # not Python of this version: it holds no template that could be read
    strings = _assigned_strings(tree)
    filled = {name: _fill_instructions(text, strings) for name, text in strings.items()}
    return [FoundTemplate(f"{where}:{name}", text.strip()) for name, text in filled.items() if _is_template(text)]


def _is_template(text: str) -> bool:
    return bool(_LABEL_WORDS.match(text)) and all(any(name in text for name in names) for names in _PLACEHOLDERS)


def _fill_instructions(text: str, strings: Mapping[str, str]) -> str:
    """A template asks for the verdict itself, or leaves that to a constant beside it that lists the letters."""
    if _INSTRUCTIONS not in text:
        return text
    lettered = [other for name, other in strings.items() if "INSTRUCTIONS" in name.upper() and _LETTERED.search(other)]
    return text.replace(_INSTRUCTIONS, lettered[0]) if len(lettered) == 1 else text


def _assigned_strings(tree: ast.Module) -> dict[str, str]:
    """Names to the strings that they are assigned, anywhere in a module, so far as these are constant."""
    strings: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        text = _constant_string(value, strings)
        if text is not None:
            strings.update({target.id: text for target in targets if isinstance(target, ast.Name)})
    return strings


def _constant_string(node: ast.expr, strings: Mapping[str, str]) -> str | None:
    """The string of a literal, a sum of such, a known name, or one of these stripped or dedented."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return strings.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _constant_string(node.left, strings), _constant_string(node.right, strings)
        return left + right if left is not None and right is not None else None
    if isinstance(node, ast.Call) and not node.keywords:
        return _called_string(node, strings)
    return None


def _called_string(node: ast.Call, strings: Mapping[str, str]) -> str | None:
    function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if function in ("dedent", "cleandoc") and len(node.args) == 1:
        text = _constant_string(node.args[0], strings)
        change = textwrap.dedent if function == "dedent" else inspect.cleandoc
        return None if text is None else change(text)
    if isinstance(node.func, ast.Attribute) and function in ("strip", "lstrip", "rstrip") and not node.args:
        text = _constant_string(node.func.value, strings)
        return None if text is None else {"strip": text.strip, "lstrip": text.lstrip, "rstrip": text.rstrip}[function]()
    return None


def _read_files(source: str) -> Iterator[tuple[str, bytes]]:
    if source.startswith(("http://", "https://")):
        name = Path(urllib.parse.urlsplit(source).path).name or "text"
        return _unpack(name, _download(source))
    path = Path(source).expanduser()
    try:
        if path.is_file():
            return _unpack(str(path), path.read_bytes())
        if path.is_dir():
            return _read_python((str(file), file) for file in sorted(path.rglob("*.py")))
    except OSError as error:
        raise PromptError(f"{source}: cannot be read, {error.strerror or error}; expected a readable file") from error
    return _read_package(source)


def _unpack(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    if not name.endswith(_ARCHIVES):
        yield name, content
        return
    try:
        yield from _unzip(content) if name.endswith((".whl", ".zip")) else _untar(content)
    except (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError) as error:
        raise PromptError(f"{name}: not a readable archive, {error}; expected a wheel or source archive") from error


def _unzip(content: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        for entry in archive.infolist():
            if entry.filename.endswith(".py") and entry.file_size <= _LARGEST:
                yield entry.filename, archive.read(entry)


def _untar(content: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        for entry in archive:
            file = archive.extractfile(entry) if entry.name.endswith(".py") and entry.size <= _LARGEST else None
            if file is not None:
                yield entry.name, file.read()


def _read_package(name: str) -> Iterator[tuple[str, bytes]]:
    try:
        files = importlib.metadata.files(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        files = None
    if files:
        return _read_python((str(file), Path(str(file.locate()))) for file in files if file.suffix == ".py")
    spec = importlib.machinery.PathFinder.find_spec(name) if name.isidentifier() else None
    places = list(spec.submodule_search_locations or []) if spec else []
    if spec and places:
        return _read_python((str(file), file) for place in places for file in sorted(Path(place).rglob("*.py")))
    if spec and spec.origin:
        return _read_python([(spec.origin, Path(spec.origin))])
    raise PromptError(
        f"{name}: no such file, installed package or address; expected one of these, such as a wheel that "
        "`pip download --no-deps PACKAGE` has brought (nvidia-simple-evals, inspect-evals)"
    )


def _read_python(files: Iterator[tuple[str, Path]] | list[tuple[str, Path]]) -> Iterator[tuple[str, bytes]]:
    for where, file in files:
        try:
            if file.is_file() and file.stat().st_size <= _LARGEST:
                yield where, file.read_bytes()
        except OSError as error:
            raise PromptError(f"{file}: cannot be read, {error.strerror}; expected a readable file") from error


def _download(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as answer:
            content: bytes = answer.read(_LARGEST_ARCHIVE + 1)
    except (OSError, ValueError) as error:
        raise PromptError(
            f"{address}: cannot be fetched, {error}; expected a text, a wheel or Python source"
        ) from error
    if len(content) > _LARGEST_ARCHIVE:
        raise PromptError(f"{address}: over {_LARGEST_ARCHIVE:,} bytes; expected a text, a wheel or Python source")
    return content
