"""Which run is meant by a name."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.errors import RunNotFoundError

__all__ = ["match_run"]


def match_run(ids: Sequence[str], name: str, *, where: str) -> str:
    """The run of that id, the only one of that experiment, or else the only one whose id begins so.

    Raises
    ------
    RunNotFoundError
        If there is none, or more than one; the message begins with ``where``.
    """
    named = [run_id for run_id in ids if name and run_id.rpartition("-")[0] == name]
    begins = [run_id for run_id in ids if name and run_id.startswith(name)]
    matches = [name] if name in ids else named or begins
    if len(matches) == 1:
        return matches[0]
    found = f"{len(matches)} runs begin so (autorater runs tells them apart)" if matches else "no such run"
    expected = f"one of {matches or list(ids)}" if ids else "a store with runs, this one has none"
    raise RunNotFoundError(f"{where}: run {name!r}: {found}; expected {expected}")
