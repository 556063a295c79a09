"""How a person names a store, and what messages say of it: never a password."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.errors import StoreError
from experiments.store.store_place import StorePlace, parse_place

SECRET = "pa55word"


@pytest.mark.parametrize(
    "text", ["autorater.sqlite", ":memory:", "file:s.sqlite?mode=ro", "C:\\data\\s.sqlite", "/a//b", "a:b", "x://y"]
)
def test_what_has_no_scheme_is_a_path(text: str) -> None:
    place = parse_place(text)
    assert (place.path, place.address) == (Path(text), None)
    assert (place.title, place.name) == (str(Path(text)), Path(text).name)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg", "PostgreSQL"])
def test_every_way_to_write_an_address_means_the_same_driver(scheme: str) -> None:
    place = parse_place(f"{scheme}://anna:{SECRET}@db.example.org:6543/grading?sslmode=require&password={SECRET}")
    assert place.path is None
    assert place.address is not None
    assert place.address.drivername == "postgresql+psycopg"
    assert (place.address.password, place.address.port, place.address.query["sslmode"]) == (SECRET, 6543, "require")
    assert place.title == place.name == str(place) == "postgresql://anna@db.example.org:6543/grading"
    assert SECRET not in repr(place)
    assert parse_place(place) is place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"mysql://me:{SECRET}@host/db", r"^mysql://\.\.\.: a kind of store that is not known; expected"),
        (f"sqlite:///{SECRET}.sqlite", r"^sqlite://\.\.\.: a kind of store that is not known; expected a file's path"),
        (f"postgresql://me:{SECRET}@host:port/db", r"^postgresql://\.\.\.: an address that cannot be read; expected"),
        (f"postgresql://me:{SECRET}@host", r"^postgresql://me@host: names no database; expected"),
        (f"postgresql://me:{SECRET}@host/", "names no database"),
        (
            f"postgresql://me:p@{SECRET}@host/db",
            r"^postgresql://\.\.\.: .* more than one @; .* %40 for",
        ),
        (f"postgresql://me:p@{SECRET}/x@host/db", "with more than one @"),
        (f"postgresql:/me:{SECRET}@host/db", r"^postgresql:\.\.\.: an address that cannot be read; expected"),
        (f"postgres:me:{SECRET}@host/db", r"^postgres:\.\.\.: an address that cannot be read"),
    ],
)
def test_what_names_no_store_is_an_error_without_its_password(text: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as told:
        parse_place(text)
    assert SECRET not in str(told.value)


def test_places_are_one_however_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_place("a/../s.sqlite").is_same(parse_place(tmp_path / "s.sqlite"))
    assert not parse_place("s.sqlite").is_same(parse_place("t.sqlite"))
    one = parse_place("postgresql://anna@host/db")
    assert one.is_same(parse_place(f"postgres://bert:{SECRET}@host:5432/db"))
    for other in ("postgresql://anna@host/other", "postgresql://anna@host:1/db", "postgresql://anna@there/db"):
        assert not one.is_same(parse_place(other))
    assert not one.is_same(parse_place("db"))


def test_a_relative_file_is_taken_from_a_folder_and_an_address_from_nowhere(tmp_path: Path) -> None:
    assert parse_place("s.sqlite").under(tmp_path).path == tmp_path / "s.sqlite"
    assert parse_place(tmp_path / "t").under(Path("/else")).path == tmp_path / "t"
    address = parse_place("postgresql://anna@host/db")
    assert address.under(tmp_path) == address


def test_a_file_is_known_to_be_there_and_a_database_is_asked(tmp_path: Path) -> None:
    assert not StorePlace(tmp_path / "s").is_made()
    (tmp_path / "s").touch()
    assert StorePlace(tmp_path / "s").is_made()
    assert parse_place("postgresql://anna@host/db").is_made()


@given(password=st.text(st.characters(exclude_categories=("Cs",)), min_size=8))
def test_no_password_is_ever_told(password: str) -> None:
    from sqlalchemy.engine import URL

    url = URL.create("postgresql+psycopg", "anna", password, "db.example.org", 5432, "grading")
    place = parse_place(url.render_as_string(hide_password=False))
    assert place.address is not None
    assert place.address.password == password
    assert place.title == "postgresql://anna@db.example.org:5432/grading"
