"""Where a store is: a file of this machine, or a database on a PostgreSQL server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from experiments.errors import StoreError

__all__ = ["StorePlace", "parse_place"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_MEANT = re.compile(r"postgres[a-z0-9+]*:", re.IGNORECASE)
_SERVER_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_FORM = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"


@dataclass(frozen=True, slots=True, repr=False)
class StorePlace:
    """A store's file or the address of its database: one of them, never both.

    Attributes
    ----------
    path
        The file; ``None`` for a database on a server.
    address
        The database's address, with its password if one was given; ``None`` for a file.
    """

    path: Path | None = None
    address: URL | None = None

    @property
    def title(self) -> str:
        """The place as messages name it; never with a password."""
        if self.address is None:
            return str(self.path)
        at = self.address
        # What else the address says may be a password too.
        return URL.create(
            "postgresql", at.username, host=at.host, port=at.port, database=at.database
        ).render_as_string()

    @property
    def name(self) -> str:
        """The file's name, or the address without its password."""
        return self.title if self.path is None else self.path.name

    def is_made(self) -> bool:
        """Whether something is there that may be a store; what a server has is known when it is asked."""
        return self.path is None or self.path.is_file()

    def under(self, folder: Path) -> StorePlace:
        """The place, a relative file taken from ``folder``."""
        return self if self.path is None else StorePlace(folder / self.path)

    def is_same(self, other: StorePlace) -> bool:
        """Whether both are one store, however they are written."""
        return self._identity() == other._identity()

    def _identity(self) -> object:
        if self.path is not None:
            return self.path.resolve()
        assert self.address is not None  # one of both is there
        return self.address.host or "", self.address.port or 5432, self.address.database, dict(self.address.query)

    def __str__(self) -> str:
        return self.title

    def __repr__(self) -> str:
        return f"StorePlace({self.title!r})"


def parse_place(text: str | Path | StorePlace) -> StorePlace:
    """The place that a person names: what has a scheme is an address, all else a path.

    Raises
    ------
    StoreError
        If it is an address that cannot be read, or one of another kind of server. No message repeats a password.
    """
    if isinstance(text, StorePlace):
        return text
    found = None if isinstance(text, Path) else _SCHEME.match(text)
    # What is meant as an address is no path: a message would name it, with its password.
    if found is None and not isinstance(text, Path) and _MEANT.match(text):
        raise StoreError(f"{text.partition(':')[0]}:...: an address that cannot be read; expected {_FORM}")
    if found is None:
        return StorePlace(Path(text))
    if found[1].lower() not in _SERVER_SCHEMES:
        raise StoreError(f"{found[1]}://...: a kind of store that is not known; expected a file's path, or {_FORM}")
    rest = str(text)[found.end() :]
    # Of a password with an @ in it the end would be taken for the host, and be named.
    if rest.count("@") > 1:
        raise StoreError(
            f"{found[1]}://...: an address with more than one @; expected {_FORM}, with %40 for an @ in a password"
        )
    try:
        address = make_url("postgresql+psycopg://" + rest)
    except (ArgumentError, ValueError) as error:
        raise StoreError(f"{found[1]}://...: an address that cannot be read; expected {_FORM}") from error
    if not address.database:
        raise StoreError(f"{StorePlace(address=address)}: names no database; expected {_FORM}")
    return StorePlace(address=address)
