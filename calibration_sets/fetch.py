"""Public data from their own sources, checked by hash and kept in the user's cache."""

from __future__ import annotations

import functools
import hashlib
import http.client
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import platformdirs
from pydantic import Field

from calibration_sets.errors import SourceError
from calibration_sets.records import Filled, StrictRecord
from calibration_sets.strict import read_toml
from calibration_sets.strict_models import parse_model

__all__ = [
    "CACHE_VARIABLE",
    "Progress",
    "Source",
    "SourceFile",
    "default_cache",
    "fetch_source",
    "find_source",
    "list_sources",
]

CACHE_VARIABLE = "AUTORATER_CACHE"
"""Environment variable with the folder to keep fetched data in."""

Progress = Callable[[str, int, int | None], None]
"""Called with file name, bytes so far, and bytes in all where the server says."""

TIMEOUT = 60.0
"""Seconds without an answer after which a source counts as not to be had."""

MOST_BYTES = 64 * 1024 * 1024
"""No file of a source is larger; a longer answer is not the file."""

_CHUNK = 64 * 1024


class SourceFile(StrictRecord):
    """One file of a source; ``sha256`` is what its content must hash to."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]*$")]
    url: Annotated[str, Field(pattern=r"^https?://")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Source(StrictRecord):
    """Public data: what they are, under which licence, and their files."""

    title: Filled
    licence: Filled
    homepage: Filled
    files: list[SourceFile] = Field(min_length=1)


@functools.cache
def list_sources() -> Mapping[str, Source]:
    """The sources that can be fetched, by name."""
    path = Path(__file__).with_name("sources.toml")
    tables = read_toml(path, SourceError)
    return {name: parse_model(Source, table, f"{path.name}: {name}", SourceError) for name, table in tables.items()}


def default_cache() -> Path:
    """The folder that fetched data are kept in: ``AUTORATER_CACHE``, or the system's place for caches."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("autorater-calibration"))


def fetch_source(
    name: str,
    *,
    from_file: Path | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
    sources: Mapping[str, Source] | None = None,
) -> Path:
    """The data of a source, from the cache if they are there and sound.

    Parameters
    ----------
    from_file
        A copy to take instead of the network: the file, or, where a source has several, a folder
        with files of their names. Its hash is checked like that of a download.
    cache
        Folder to keep data in; default :func:`default_cache`.
    sources
        Sources to choose from; default :func:`list_sources`.

    Returns
    -------
    Path
        The file, or the folder of the files where the source has several.

    Raises
    ------
    SourceError
        If the source is unknown, cannot be reached, or sends something else than it should. The
        cache never holds a file that is not whole and right.
    """
    known = list_sources() if sources is None else sources
    if name not in known:
        raise SourceError(f"{name!r}: no such source; expected one of {', '.join(known)}")
    source = known[name]
    folder = (cache or default_cache()) / "sources" / name
    for file in source.files:
        if from_file is None and _is_sound(folder / file.name, file):
            continue
        _keep(folder, file, _copied(from_file, source, file) if from_file else _downloaded(name, file, progress))
    return folder / source.files[0].name if len(source.files) == 1 else folder


def find_source(name: str) -> Path | None:
    """The file, or folder of files, of a source that has been fetched whole; nothing is fetched.

    Raises
    ------
    KeyError
        If there is no such source.
    """
    files, folder = list_sources()[name].files, default_cache() / "sources" / name
    if not all(_is_sound(folder / file.name, file) for file in files):
        return None
    return folder / files[0].name if len(files) == 1 else folder


def _is_sound(path: Path, file: SourceFile) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256


def _keep(folder: Path, file: SourceFile, chunks: Iterator[bytes]) -> None:
    """Write a file beside its place, check it, and only then move it there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{file.name}.", suffix=".part", dir=folder) as work:
            scratch = Path(work, file.name)
            found = _write_hashed(scratch, chunks)
            if found != file.sha256:
                raise SourceError(
                    f"{file.name}: SHA-256 {found[:16]}..., not the published file; expected {file.sha256[:16]}..."
                )
            scratch.replace(folder / file.name)
    except OSError as error:
        raise SourceError(f"{folder}: cannot be written ({error.strerror}); expected a folder for data") from None


def _write_hashed(path: Path, chunks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as target:
        for chunk in chunks:
            digest.update(chunk)
            target.write(chunk)
    return digest.hexdigest()


def _copied(path: Path, source: Source, file: SourceFile) -> Iterator[bytes]:
    """The content of a copy that the user has."""
    chosen = path / file.name if path.is_dir() else path
    if len(source.files) > 1 and not path.is_dir():
        names = ", ".join(one.name for one in source.files)
        raise SourceError(f"{path}: not a folder; expected one with {names}")
    try:
        with chosen.open("rb") as content:
            yield from iter(lambda: content.read(_CHUNK), b"")
    except OSError as error:
        raise SourceError(f"{chosen}: cannot be read ({error.strerror}); expected a copy of {file.name}") from None


def _downloaded(name: str, file: SourceFile, progress: Progress | None) -> Iterator[bytes]:
    """The content that the source sends, with every way to fail as one error."""
    advice = f"expected {file.name}; if you have it, use 'autorater sets fetch {name} --from-file PATH'"
    try:
        with urllib.request.urlopen(file.url, timeout=TIMEOUT) as answer:
            yield from _received(answer, file, progress)
    except urllib.error.HTTPError as error:
        error.close()
        raise SourceError(f"{file.url}: HTTP status {error.code} {error.reason}; {advice}") from None
    except urllib.error.URLError as error:
        raise SourceError(f"{file.url}: not reached ({error.reason}); {advice}") from None
    except (OSError, http.client.HTTPException) as error:
        raise SourceError(f"{file.url}: broke off ({str(error) or type(error).__name__}); {advice}") from None


def _received(answer: http.client.HTTPResponse, file: SourceFile, progress: Progress | None) -> Iterator[bytes]:
    length = answer.headers.get("Content-Length", "")
    expected = int(length) if length.isdecimal() else None
    received = 0
    while chunk := answer.read(_CHUNK):
        received += len(chunk)
        if received > MOST_BYTES:
            raise SourceError(f"{file.url}: more than {MOST_BYTES} bytes; expected {file.name}, which is smaller")
        if progress:
            progress(file.name, received, expected)
        yield chunk
    if expected is not None and received != expected:
        raise SourceError(f"{file.url}: broke off after {received} of {expected} bytes; please try again")
