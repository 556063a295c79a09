"""What a PostgreSQL server's complaints ask for, and which of them may pass."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from experiments.store.store_place import StorePlace

__all__ = ["expected_server", "is_passing", "one_line"]

# Classes and codes of the SQL standard and of PostgreSQL (appendix A of its manual): connection, serialization and
# deadlock, a lock held too long, too many connections, a transaction that was idle too long, shutdown and start, a
# server that has become the stand-by of another.
_PASSING = ("08", "40001", "40P01", "55P03", "53300", "25P03", "57P01", "57P02", "57P03", "25006")

# libpq tells no code where it could not connect: its words, and those that it repeats from the server.
_LASTING = ("authentication failed", "no password supplied", "does not exist", "no pg_hba.conf entry", "invalid")


def is_passing(error: DBAPIError) -> bool:
    """Whether the same may succeed on a new connection: nothing is wrong with what was asked."""
    code = getattr(error.orig, "sqlstate", None)
    if code is not None:
        return str(code).startswith(_PASSING)
    if error.connection_invalidated:
        return True
    return type(error.orig).__name__ in {"OperationalError", "ConnectionTimeout"} and not _says(error, *_LASTING)


def expected_server(error: DBAPIError, place: StorePlace) -> str:
    """What would have to be otherwise for the server not to complain so."""
    code = str(getattr(error.orig, "sqlstate", None) or "")
    if _says(error, "authentication failed", "no password supplied"):
        return "the user's password: in the address, in PGPASSWORD or in ~/.pgpass"
    if _says(error, "database", "does not exist") and not code:
        assert place.address is not None  # only a server says so
        return f"a database that exists, such as one that createdb {place.address.database} makes"
    if _says(error, "too many clients") or _says(error, "too many connections") or _says(error, "connection slots"):
        return "a free connection: a process takes up to three, of max_connections of the server, database and user"
    if code.startswith("53") and code != "53300":
        return "room on the server; what is stored stays, and the same command continues"
    if code == "42501":
        return "a user that may do this there"
    if code and not code.startswith(_PASSING):
        return "an autorater store that can be written"
    return "a PostgreSQL server that can be reached there"


def one_line(error: DBAPIError) -> str:
    """The server's message without its line breaks; it holds no password."""
    return " ".join(str(error.orig).split())


def _says(error: DBAPIError, *words: str) -> bool:
    said = str(error.orig)
    return all(word in said for word in words) if "database" in words else any(word in said for word in words)
