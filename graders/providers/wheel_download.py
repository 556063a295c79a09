"""One wheel from the package index, by pip, not installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

__all__ = ["DownloadError", "download_wheel"]

_POLL_SECONDS = 0.2
_QUIET_STEP = 0.25
_RETRIES = 2


class DownloadError(Exception):
    """There is no pip, or pip did not bring the wheel; the message is pip's own."""


def download_wheel(requirement: str, folder: Path, *, size: int, console: Console) -> Path:
    """Download the wheel of a pinned requirement into a folder.

    ``size`` (bytes) is what the progress is measured against. The name of the file that came is
    returned; its content is the caller's to check.

    Raises
    ------
    DownloadError
        If pip is missing or fails.
    """
    if importlib.util.find_spec("pip") is None:
        raise DownloadError(f"no pip in {sys.executable} (python -m ensurepip brings it)")
    log = folder / "pip.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            _command(requirement, folder),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)},
        )
        try:
            _follow(process, folder, size, console)
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()
    wheels = sorted(folder.glob("*.whl"))
    if process.returncode != 0 or not wheels:
        raise DownloadError(_reason(log.read_text(encoding="utf-8", errors="replace"), process.returncode))
    return wheels[0]


def _command(requirement: str, folder: Path) -> list[str]:
    options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check"]
    patience = ["--progress-bar", "off", "--retries", str(_RETRIES), "--timeout", "20"]
    return [sys.executable, "-m", "pip", "download", *options, *patience, "-d", str(folder), requirement]


def _follow(process: subprocess.Popen[bytes], folder: Path, size: int, console: Console) -> None:
    """Show how much has come until pip ends; its temporary files are in the folder too."""
    if not console.is_terminal:
        _follow_quietly(process, folder, size, console)
        return
    columns = (TextColumn("downloading"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("downloading", total=size)
        while process.poll() is None:
            bar.update(task, completed=min(size, _largest_file(folder)))
            time.sleep(_POLL_SECONDS)


def _follow_quietly(process: subprocess.Popen[bytes], folder: Path, size: int, console: Console) -> None:
    shown = _QUIET_STEP
    while process.poll() is None:
        share = _largest_file(folder) / size
        if share >= shown:
            console.print(f"downloading: {min(1.0, share):.0%}", highlight=False)
            shown = share - share % _QUIET_STEP + _QUIET_STEP
        time.sleep(_POLL_SECONDS)


def _largest_file(folder: Path) -> int:
    sizes = [0]
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append((Path(parent) / name).stat().st_size)
            except OSError:  # pip moved or removed it between the two calls
                continue
    return max(sizes)


def _reason(log: str, code: int) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("ERROR", "OSError"))] or lines[-1:]
    signs = ("connection broken", "newconnectionerror", "(from versions: none)")
    network = any(sign in line.lower() for line in lines for sign in signs)
    said = told[0].removeprefix("ERROR:").strip() if told else f"exit code {code}"
    return f"pip could not reach the package index (no network?), {said}" if network else f"pip failed, {said}"
