"""Where prompts are kept: the shipped ones, and a folder of the user's own.

A library is a folder of ``<name>/<version>.md``. The user's own lies where ``AUTORATER_PROMPTS``
says, or else in the user's data folder. It may hold any names but the shipped ones, so that a name
always means one thing. ``prompts.lock`` beside the shipped folder maps each published
``name@version`` to its digest: what is published never changes, it gets a new version.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from platformdirs import user_data_dir

from graders.errors import PromptError
from graders.prompt import GraderPrompt
from graders.prompt_file import is_version, parse_prompt

__all__ = [
    "SHIPPED",
    "UNPUBLISHED",
    "PromptEntry",
    "Reader",
    "check_lock",
    "list_prompts",
    "load_prompt",
    "lock_of",
    "read_lock",
    "read_prompt_file",
    "read_text",
    "scan_library",
    "user_prompts",
    "write_lock",
]

SHIPPED = Path(__file__).parent / "prompts"
"""The folder of the prompts that come with the package."""

UNPUBLISHED = "0.0.0"
"""The version of a prompt file that lies outside a library and is not named by a version."""

Origin = Literal["shipped", "user", "file"]


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """A prompt in a library, not read yet; ``origin`` says whose it is."""

    name: str
    version: str
    path: Path
    origin: Origin

    @property
    def reference(self) -> str:
        """``name@version``, which :func:`load_prompt` takes."""
        return f"{self.name}@{self.version}"

    def load(self) -> GraderPrompt:
        """Read the file; ``PromptError`` if it is malformed or, shipped, not what its lock says."""
        prompt = _parse_file(self.path, name=self.name, version=self.version)
        if self.origin == "shipped":
            _check_published(prompt, self.path)
        return prompt


Reader = Callable[[PromptEntry], GraderPrompt]
"""From an entry to its prompt."""


def user_prompts() -> Path:
    """The folder of the user's own prompts, which need not exist."""
    configured = os.environ.get("AUTORATER_PROMPTS")
    return Path(configured).expanduser() if configured else Path(user_data_dir("autorater-calibration")) / "prompts"


def list_prompts(*, folder: Path | None = None) -> list[PromptEntry]:
    """All prompts, shipped ones first, by name and then by version, oldest first.

    Parameters
    ----------
    folder
        The user's own library, instead of :func:`user_prompts`.

    Raises
    ------
    PromptError
        If the user's library holds a file that is not named by a version, or a shipped name.
    """
    own = scan_library(user_prompts() if folder is None else folder, "user")
    shipped = scan_library(SHIPPED, "shipped")
    taken = {entry.name for entry in shipped}
    for entry in own:
        if entry.name in taken:
            raise PromptError(
                f"{entry.path}: name {entry.name!r} is that of a shipped prompt; expected a name of its own"
            )
    return [*shipped, *own]


def load_prompt(reference: str, *, folder: Path | None = None) -> GraderPrompt:
    """A prompt by ``name@version``, by ``name`` (its newest version), or by the path of a ``.md`` file.

    Parameters
    ----------
    reference
        Such as ``simpleqa@1.0.0``, ``simpleqa`` or ``drafts/judge/0.2.0.md``.
    folder
        The user's own library, instead of :func:`user_prompts`.

    Raises
    ------
    PromptError
        If there is no such prompt (the message lists near names), or its file is malformed.
    """
    if reference.endswith(".md"):
        return read_prompt_file(Path(reference))
    entries = list_prompts(folder=folder)
    name, _, version = reference.partition("#")[0].partition("@")
    versions = [entry for entry in entries if entry.name == name]
    if not versions:
        raise PromptError(f"prompt {name!r} is unknown; {_near(name, sorted({entry.name for entry in entries}))}")
    chosen = versions if "@" not in reference else [entry for entry in versions if entry.version == version]
    if not chosen:
        known = [entry.version for entry in versions]
        raise PromptError(f"prompt {reference!r}: version {version!r} is unknown; expected one of {known}")
    prompt = chosen[-1].load()
    _check_digest(reference, prompt)
    return prompt


def read_prompt_file(path: Path) -> GraderPrompt:
    """A prompt from any ``.md`` file: ``<name>/<version>.md``, or ``<name>.md`` as version 0.0.0.

    Raises
    ------
    PromptError
        If the file cannot be read or is malformed.
    """
    path = path.absolute()
    if is_version(path.stem):
        return _parse_file(path, name=path.parent.name, version=path.stem)
    return _parse_file(path, name=path.stem, version=UNPUBLISHED)


def read_lock(path: Path) -> dict[str, str]:
    """``name@version`` to digest, from a lock file; empty if there is none.

    Raises
    ------
    PromptError
        If a line is not ``name@version sha256``, or a prompt occurs twice.
    """
    locked: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, start=1):
        parts = line.split(" ")
        if len(parts) != 2 or "@" not in parts[0] or parts[0] in locked:
            raise PromptError(f"{path.name}:{number}: {line!r}; expected one new 'name@version sha256' a line")
        locked[parts[0]] = parts[1]
    return locked


def check_lock(folder: Path, *, read: Reader | None = None) -> list[str]:
    """How a library differs from its lock, a line each; empty where they agree.

    Parameters
    ----------
    folder
        A library.
    read
        From an entry to its prompt, where the files are not those of graders.
    """
    locked, found = read_lock(lock_of(folder)), _digests(folder, read)
    return [
        *(f"{title}: digest {found[title]}, published {locked[title]}" for title in _changed(locked, found)),
        *(f"{title}: not in the lock" for title in sorted(found.keys() - locked.keys())),
        *(f"{title}: in the lock, but there is no such file" for title in sorted(locked.keys() - found.keys())),
    ]


def write_lock(folder: Path, *, replace: bool = False, read: Reader | None = None) -> Path:
    """Write ``<folder>.lock``, one ``name@version sha256`` a line, sorted; return its path.

    Parameters
    ----------
    folder
        A library.
    replace
        Also accept changed or removed content of a version that is already in the lock.
    read
        From an entry to its prompt, where the files are not those of graders.

    Raises
    ------
    PromptError
        If a locked version's content has changed or is gone, and ``replace`` is not set.
    """
    path = lock_of(folder)
    locked, found = read_lock(path), _digests(folder, read)
    broken = [*_changed(locked, found), *sorted(locked.keys() - found.keys())]
    if broken and not replace:
        raise PromptError(f"{path.name}: {broken} changed or gone since published; expected a new version instead")
    lines = [f"{title} {digest}\n" for title, digest in sorted(found.items())]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


def lock_of(folder: Path) -> Path:
    """The lock of a library: ``<folder>.lock`` beside it."""
    whole = folder.absolute().resolve()
    return whole.with_name(whole.name + ".lock")


def _digests(folder: Path, read: Reader | None) -> dict[str, str]:
    load = read or PromptEntry.load
    return {entry.reference: load(entry).digest for entry in scan_library(folder, "file")}


def _changed(locked: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    return sorted(title for title in locked.keys() & found.keys() if locked[title] != found[title])


def _check_published(prompt: GraderPrompt, path: Path) -> None:
    title = f"{prompt.name}@{prompt.version}"
    published = read_lock(lock_of(SHIPPED)).get(title)
    if published is None:
        raise PromptError(f"{path}: {title} is not in prompts.lock; expected it there (autorater graders lock)")
    if published != prompt.digest:
        got = f"digest {prompt.digest[:8]}, published as {published[:8]}"
        raise PromptError(f"{path}: {got}; expected changed text under a new version")


def _check_digest(reference: str, prompt: GraderPrompt) -> None:
    """A reference may end in ``#`` and leading digits of the digest, as titles do."""
    digits = reference.partition("#")[2]
    if not prompt.digest.startswith(digits):
        raise PromptError(f"prompt {reference!r}: digest {prompt.digest[:8]}; expected {digits!r}")


def scan_library(folder: Path, origin: Origin) -> list[PromptEntry]:
    """The entries of a library in order, none without the folder; ``PromptError`` for a file that is no version."""
    entries = []
    for path in sorted(folder.glob("*/*.md")):
        if not is_version(path.stem):
            raise PromptError(f"{path}: file name {path.name!r}; expected a semantic version such as 1.0.0.md")
        entries.append(PromptEntry(path.parent.name, path.stem, path, origin))
    return sorted(entries, key=lambda entry: (entry.name, _precedence(entry.version)))


def _precedence(version: str) -> tuple[tuple[int, ...], bool, list[tuple[bool, int, str]]]:
    """Sort key of a semantic version: a pre-release comes before its release, build metadata do not count."""
    release, _, pre = version.partition("+")[0].partition("-")
    parts = [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in pre.split(".")]
    return tuple(map(int, release.split("."))), not pre, parts


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"expected one of {known}"


def _parse_file(path: Path, *, name: str, version: str) -> GraderPrompt:
    return parse_prompt(read_text(path), name=name, version=version, where=str(path))


def read_text(path: Path) -> str:
    """A prompt file's text; ``PromptError`` if it cannot be read as UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PromptError(f"{path}: {error.strerror}; expected a prompt file") from error
    except UnicodeDecodeError as error:
        raise PromptError(f"{path}: byte {error.start} is not UTF-8; expected a prompt file in UTF-8") from error
