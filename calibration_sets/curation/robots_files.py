"""robots.txt of publishers: kept as one file a host, fetched only by the user's own command."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from calibration_sets.curation.source_urls import host_of
from calibration_sets.errors import SetFileError
from calibration_sets.strict import read_json_lines
from calibration_sets.writer import write_lines

__all__ = ["Fetched", "RobotsRules", "fetch_robots", "fetch_text", "has_no_rules", "read_robots"]

Ruling = Literal["allowed", "excluded", "unknown"]
ANSWERS = "hosts.jsonl"
"""How each host answered; one that said 404 has no file of its own."""

MOST_BYTES = 512 * 1024
"""More of a robots.txt than this need not be read (RFC 9309, 2.5)."""

ADDRESS = "https://{host}/robots.txt"
TIMEOUT = 20.0
"""Seconds that a host may be silent, and that it may take in all, however slowly it goes on talking."""

_CHUNK = 16 * 1024
_AGENT = re.compile(r"^[ \t]*user-agent[ \t]*:[ \t]*([^\s/#]+)[^\r\n]*", re.IGNORECASE | re.MULTILINE)
"""A name, without the version and the remark that may follow it."""
TOO_MANY = 429
"""The status of a host that was asked too often; it says nothing of its rules."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a host said: the HTTP status, ``None`` where it could not be reached, and the text of a 200."""

    status: int | None
    text: str = ""


class RobotsRules:
    """Rules by host. A host without a file is ``unknown``, unless it is on record that it has none."""

    def __init__(self, texts: dict[str, str], without: Iterable[str] = ()) -> None:
        self._without = frozenset(without)
        plain = {host: _AGENT.sub(r"User-agent: \1", text.removeprefix("\ufeff")) for host, text in texts.items()}
        self._parsers = {host: _parse(text) for host, text in plain.items()}
        self._named = {host: {name.lower() for name in _AGENT.findall(text)} for host, text in plain.items()}
        self.digest = hashlib.sha256(json.dumps([texts, sorted(self._without)], sort_keys=True).encode()).hexdigest()

    def rule(self, url: str, agents: Sequence[str]) -> Ruling:
        """Whether any of the robots is shut out from an address, by the host's own rules (RFC 9309)."""
        host = host_of(url)
        if host in self._without:
            return "allowed"
        if host not in self._parsers:
            return "unknown"
        # The parser takes rules for "Google" as rules for "Google-Extended"; by the standard a name is the whole name.
        named = self._named[host]
        asked = {agent if agent.lower() in named else "*" for agent in agents}
        return "allowed" if all(self._parsers[host].can_fetch(url, agent) for agent in asked) else "excluded"


def _parse(text: str) -> Any:
    try:
        from protego import Protego
    except ImportError:
        raise SetFileError(
            "robots.txt: the package 'protego' is not installed; expected it, "
            "pip install 'autorater-calibration[curation]'"
        ) from None
    return Protego.parse(text)


def read_robots(folder: Path | None) -> RobotsRules:
    """The rules in a folder of files named ``<host>.txt``; none where no folder is given.

    ``hosts.jsonl``, which :func:`fetch_robots` writes, says which hosts have no robots.txt (a status from 400 to 499).

    Raises
    ------
    SetFileError
        If the folder is not there, or its record of answers is malformed.
    """
    if folder is None:
        return RobotsRules({})
    if not folder.is_dir():
        raise SetFileError(f"{folder}: no such folder; expected one of robots.txt files named <host>.txt")
    # Publishers write these in any encoding; a byte that is no text changes no rule in ASCII.
    texts = {path.stem.lower(): path.read_text("utf-8", errors="replace") for path in sorted(folder.glob("*.txt"))}
    without = [host for host, status in _answers(folder).items() if has_no_rules(status)]
    return RobotsRules(texts, without)


def has_no_rules(status: int | None) -> bool:
    """Whether a host said that it has no robots.txt for us, which leaves all open (RFC 9309, 2.3.1.3)."""
    return status is not None and 400 <= status < 500 and status != TOO_MANY


def _answers(folder: Path) -> dict[str, int | None]:
    path = folder / ANSWERS
    lines = read_json_lines(path, SetFileError) if path.exists() else []
    found: dict[str, int | None] = {}
    for line in lines:
        host, status = line.data.get("host"), line.data.get("status")
        if not isinstance(host, str) or not (status is None or isinstance(status, int)):
            raise SetFileError(f"{path.name}:{line.line}: host {host!r}, status {status!r}; expected text and a number")
        found[host] = status
    return found


def fetch_robots(
    hosts: Iterable[str], folder: Path, fetch: Callable[[str], Fetched], *, parallel: int = 8
) -> dict[str, int | None]:
    """Fetch the robots.txt of hosts that have not answered yet; each host's status, ``None`` for no answer.

    Answers are kept as they come in, so that a fetch that was broken off goes on where it stopped. A host that could
    not be reached, or said that it was out of order, stays unknown and is asked again next time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    answers = _answers(folder)
    wanted = [host for host in sorted(set(hosts)) if not _is_answered(answers.get(host))]
    for host, fetched in _fetch_all(wanted, fetch, parallel):
        if fetched.status == 200:
            (folder / f"{host}.txt").write_text(fetched.text, encoding="utf-8", newline="\n")
        answers[host] = fetched.status
        write_lines(folder / ANSWERS, ({"host": name, "status": answers[name]} for name in sorted(answers)))
    return answers


def _is_answered(status: int | None) -> bool:
    """A redirection that led nowhere (3xx) is no answer, and neither is a server that is out of order."""
    return status is not None and (status < 300 or has_no_rules(status))


def _fetch_all(hosts: Sequence[str], fetch: Callable[[str], Fetched], parallel: int) -> Iterator[tuple[str, Fetched]]:
    """Answers as they come: one slow host keeps no other's waiting."""
    pool = ThreadPoolExecutor(parallel)
    try:
        asked = {pool.submit(fetch, host): host for host in hosts}
        for future in as_completed(asked):
            yield asked[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def fetch_text(host: str) -> Fetched:
    """The robots.txt of a host over HTTPS, or why there is none."""
    request = urllib.request.Request(ADDRESS.format(host=host), headers={"User-Agent": "autorater-calibration"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return Fetched(200, _read_some(answer).decode("utf-8", errors="replace"))
    except urllib.error.HTTPError as error:
        error.close()
        return Fetched(error.code)
    except (OSError, http.client.HTTPException, ValueError):
        # A ValueError is a name that no host can have; one misspelt address is no reason to stop.
        return Fetched(None)


def _read_some(answer: http.client.HTTPResponse) -> bytes:
    """What comes within the limits of size and time; ``TimeoutError`` (an ``OSError``) if it goes on for too long."""
    found, end = b"", time.monotonic() + TIMEOUT
    while len(found) < MOST_BYTES and (chunk := answer.read1(_CHUNK)):
        found += chunk
        if time.monotonic() > end:
            raise TimeoutError
    return found[:MOST_BYTES]
