"""A private PostgreSQL server on a loopback port, for tests: its own folder, its own databases, gone at the end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["PostgresServer", "find_postgres"]

_USER = "autorater"
_SECONDS = 30
"""So long the server may take to start or to stop."""

_ROOM = 4_000_000_000
"""Bytes."""


def find_postgres() -> Path | None:
    """Folder of the server's programs: ``AUTORATER_POSTGRES``, else beside those on the path, else Debian's newest."""
    named = os.environ.get("AUTORATER_POSTGRES")
    if named:
        return Path(named) if (Path(named) / "initdb").is_file() else None
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).resolve().parent
    versions = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if (folder / "initdb").is_file()]
    return max(versions, key=lambda folder: int(folder.parent.name), default=None)


class PostgresServer:
    """A server for as long as it is a context; root may not run one, so root has the user ``postgres`` do it.

    Parameters
    ----------
    programs
        Folder with ``initdb`` and ``postgres``.
    """

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.port = _free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="autorater-postgres-", dir=_memory()))
        self._data = self._folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count(1)

    def __enter__(self) -> Self:
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        try:
            # The server of a test need not survive a power cut: its files are not forced to the disk.
            self._run("initdb", "-D", str(self._data), "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
            self.start()
        except BaseException:
            self._clean()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._clean()

    def start(self) -> None:
        """Serve on the same port as before, with all that was committed; returns when connections are taken."""
        settings = [
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self._folder}",
            "fsync=off",
            "max_connections=200",
        ]
        options = [word for setting in settings for word in ("-c", setting)]
        log = (self._folder / "log").open("ab")
        self._process = subprocess.Popen(
            [*self._as_user(), str(self.programs / "postgres"), "-D", str(self._data), *options],
            stdout=log,
            stderr=log,
            cwd=self._folder,
        )
        log.close()
        self._await_start()

    def stop(self) -> None:
        """Cut all connections and stop; what was not committed is lost."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            self._run("pg_ctl", "-D", str(self._data), "stop", "-m", "immediate", "-t", str(_SECONDS))
        process.wait(_SECONDS)

    def new_database(self) -> str:
        """Address of a new and empty database, as SQLAlchemy writes it."""
        name = f"test_{next(self._numbers)}"
        self.psql("postgres", f"CREATE DATABASE {name}")
        return self.address(name)

    def address(self, name: str) -> str:
        """Address of a database of this server."""
        return f"postgresql+psycopg://{_USER}@127.0.0.1:{self.port}/{name}"

    def psql(self, database: str, statement: str) -> str:
        """What a statement prints, without headings."""
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", _USER, "-d", database]
        return self._run("psql", *where, "-v", "ON_ERROR_STOP=1", "-XAtqc", statement)

    # inside

    def _run(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            [*self._as_user(), str(self.programs / program), *arguments],
            capture_output=True,
            text=True,
            cwd=self._folder,
            timeout=_SECONDS,
        )
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    def _as_user(self) -> list[str]:
        return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []

    def _await_start(self) -> None:
        assert self._process is not None
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                break
            try:
                self.psql("postgres", "SELECT 1")
            except RuntimeError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(f"no PostgreSQL: {(self._folder / 'log').read_text(errors='replace')[-2_000:]}")

    def _clean(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def _memory() -> Path | None:
    """A folder that is kept in memory, if there is one with room: a hundred databases are a gigabyte of small files."""
    folder = Path("/dev/shm")
    try:
        return folder if shutil.disk_usage(folder).free > _ROOM and os.access(folder, os.W_OK) else None
    except OSError:
        return None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
