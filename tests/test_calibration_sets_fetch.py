from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from calibration_sets import fetch
from calibration_sets.errors import SourceError
from calibration_sets.fetch import Source, SourceFile, default_cache, fetch_source, find_source, list_sources

CONTENT = {"a.csv": b"id,answer\n1,A\n" * 10_000, "b.csv": b"id\n1\n"}


class Server(ThreadingHTTPServer):
    """Serves ``CONTENT``; ``fault`` says how to misbehave."""

    daemon_threads = True
    fault = ""
    n_requests = 0


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.n_requests += 1
        body = CONTENT[self.path.rsplit("/", 1)[-1]]
        if self.server.fault == "404":
            self.send_error(404)
            return
        if self.server.fault == "other content":
            body = b"<html>sign in</html>"
        self.send_response(200)
        if self.server.fault != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.server.fault == "truncated" else body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def source(server: Server | None, *names: str) -> dict[str, Source]:
    port = server.server_address[1] if server else 9
    files = [
        SourceFile(name=name, url=f"http://127.0.0.1:{port}/{name}", sha256=hashlib.sha256(CONTENT[name]).hexdigest())
        for name in names
    ]
    return {"tiny": Source(title="t", licence="MIT", homepage="http://x", files=files)}


def left_behind(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_one_file_is_fetched_checked_and_kept(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    sources = source(server, "a.csv")
    path = fetch_source("tiny", cache=tmp_path, sources=sources, progress=lambda *step: seen.append(step))
    assert path == tmp_path / "sources" / "tiny" / "a.csv"
    assert path.read_bytes() == CONTENT["a.csv"]
    assert seen[-1] == ("a.csv", len(CONTENT["a.csv"]), len(CONTENT["a.csv"]))
    assert left_behind(tmp_path) == ["a.csv"]
    assert fetch_source("tiny", cache=tmp_path, sources=sources) == path
    assert server.n_requests == 1


def test_what_was_fetched_is_found_and_what_is_not_sound_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = {**source(None, "a.csv"), "both": source(None, "a.csv", "b.csv")["tiny"]}
    monkeypatch.setattr(fetch, "list_sources", lambda: sources)
    monkeypatch.setenv(fetch.CACHE_VARIABLE, str(tmp_path))
    assert (find_source("tiny"), find_source("both")) == (None, None)
    for name in ("tiny", "both"):
        folder = tmp_path / "sources" / name
        folder.mkdir(parents=True)
        (folder / "a.csv").write_bytes(CONTENT["a.csv"])
    assert find_source("tiny") == tmp_path / "sources" / "tiny" / "a.csv"
    assert find_source("both") is None
    (tmp_path / "sources" / "both" / "b.csv").write_bytes(CONTENT["b.csv"])
    assert find_source("both") == tmp_path / "sources" / "both"
    (tmp_path / "sources" / "tiny" / "a.csv").write_bytes(b"another")
    assert find_source("tiny") is None


def test_several_files_make_a_folder(server: Server, tmp_path: Path) -> None:
    folder = fetch_source("tiny", cache=tmp_path, sources=source(server, "a.csv", "b.csv"))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT


def test_an_answer_without_a_length(server: Server, tmp_path: Path) -> None:
    server.fault = "no length"
    assert fetch_source("tiny", cache=tmp_path, sources=source(server, "a.csv")).read_bytes() == CONTENT["a.csv"]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (
            "404",
            "HTTP status 404 Not Found; expected a.csv; if you have it, use 'autorater sets fetch tiny --from-file",
        ),
        ("truncated", "broke off after 70000 of 140000 bytes; please try again"),
        ("other content", "not the published file"),
    ],
)
def test_faults_are_named_leave_nothing_and_can_be_tried_again(
    server: Server, tmp_path: Path, fault: str, expected: str
) -> None:
    server.fault = fault
    sources = source(server, "a.csv")
    with pytest.raises(SourceError) as caught:
        fetch_source("tiny", cache=tmp_path, sources=sources)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert left_behind(tmp_path) == []
    server.fault = ""
    assert fetch_source("tiny", cache=tmp_path, sources=sources).read_bytes() == CONTENT["a.csv"]


def test_a_truncated_answer_without_a_length_is_found_by_its_hash(server: Server, tmp_path: Path) -> None:
    server.fault = "no length"
    wrong = source(server, "a.csv")["tiny"].files[0].model_copy(update={"sha256": "0" * 64})
    sources = {"tiny": Source(title="t", licence="MIT", homepage="http://x", files=[wrong])}
    with pytest.raises(SourceError, match=r"a\.csv: SHA-256 .* not the published file; expected 0000000000000000"):
        fetch_source("tiny", cache=tmp_path, sources=sources)
    assert left_behind(tmp_path) == []


def test_an_interruption_leaves_no_half_file_and_keeps_whole_ones(server: Server, tmp_path: Path) -> None:
    def interrupt(name: str, n_bytes: int, n_all: int | None) -> None:
        if name == "a.csv":
            raise KeyboardInterrupt

    sources = source(server, "b.csv", "a.csv")
    with pytest.raises(KeyboardInterrupt):
        fetch_source("tiny", cache=tmp_path, sources=sources, progress=interrupt)
    assert left_behind(tmp_path) == ["b.csv"]
    fetch_source("tiny", cache=tmp_path, sources=sources)
    assert left_behind(tmp_path) == ["a.csv", "b.csv"]
    assert server.n_requests == 3


def test_a_file_that_went_bad_in_the_cache_is_fetched_again(server: Server, tmp_path: Path) -> None:
    sources = source(server, "a.csv")
    path = fetch_source("tiny", cache=tmp_path, sources=sources)
    path.write_bytes(path.read_bytes()[:-1])
    assert fetch_source("tiny", cache=tmp_path, sources=sources).read_bytes() == CONTENT["a.csv"]


def test_an_answer_that_is_too_long(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MOST_BYTES", 1000)
    with pytest.raises(SourceError, match="more than 1000 bytes"):
        fetch_source("tiny", cache=tmp_path, sources=source(server, "a.csv"))
    assert left_behind(tmp_path) == []


def test_no_server_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(SourceError, match=r"not reached \(.*--from-file PATH"):
        fetch_source("tiny", cache=tmp_path, sources=source(None, "a.csv"))


def test_a_copy_in_place_of_the_network(tmp_path: Path) -> None:
    copy = tmp_path / "renamed.csv"
    copy.write_bytes(CONTENT["a.csv"])
    path = fetch_source("tiny", from_file=copy, cache=tmp_path / "cache", sources=source(None, "a.csv"))
    assert path.read_bytes() == CONTENT["a.csv"]
    assert copy.exists()
    assert fetch_source("tiny", cache=tmp_path / "cache", sources=source(None, "a.csv")) == path


def test_copies_of_several_files_come_from_a_folder(tmp_path: Path) -> None:
    for name, content in CONTENT.items():
        (tmp_path / name).write_bytes(content)
    sources = source(None, "a.csv", "b.csv")
    folder = fetch_source("tiny", from_file=tmp_path, cache=tmp_path / "cache", sources=sources)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT
    with pytest.raises(SourceError, match=r"not a folder; expected one with a\.csv, b\.csv"):
        fetch_source("tiny", from_file=tmp_path / "a.csv", cache=tmp_path / "other", sources=sources)


@pytest.mark.parametrize("content", [b"", b"id,answer\n", b"\xef\xbb\xbf" + CONTENT["a.csv"]])
def test_a_copy_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    copy = tmp_path / "a.csv"
    copy.write_bytes(content)
    with pytest.raises(SourceError, match="not the published file"):
        fetch_source("tiny", from_file=copy, cache=tmp_path / "cache", sources=source(None, "a.csv"))
    assert left_behind(tmp_path / "cache") == []


def test_a_copy_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"cannot be read \(No such file or directory\); expected a copy of a\.csv"):
        fetch_source("tiny", from_file=tmp_path / "no.csv", cache=tmp_path / "cache", sources=source(None, "a.csv"))


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    copy = tmp_path / "a.csv"
    copy.write_bytes(CONTENT["a.csv"])
    with pytest.raises(SourceError, match="cannot be written"):
        fetch_source("tiny", from_file=copy, cache=tmp_path / "cache", sources=source(None, "a.csv"))


def test_unknown_sources_list_the_known() -> None:
    with pytest.raises(
        SourceError, match="'squad': no such source; expected one of simpleqa, simpleqa_verified, nq301, evouna_tq"
    ):
        fetch_source("squad")


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTORATER_CACHE", str(tmp_path))
    assert default_cache() == tmp_path
    monkeypatch.delenv("AUTORATER_CACHE")
    assert "autorater-calibration" in default_cache().parts[-1]


def test_the_table_of_sources_is_whole() -> None:
    for source_ in list_sources().values():
        assert source_.licence
        assert all(file.url.startswith("https://") and file.url.endswith(file.name) for file in source_.files)


@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("simpleqa", "simpleqa/simple_qa_test_set.csv"),
        ("simpleqa_verified", "simpleqa_verified/simpleqa_verified.csv"),
        ("nq301", "nq301"),
        ("evouna_tq", "evouna_tq"),
    ],
)
def test_the_published_files_have_the_hashes_of_the_table(
    calibration_data: Path, tmp_path: Path, name: str, copy: str
) -> None:
    assert fetch_source(name, from_file=calibration_data / copy, cache=tmp_path).exists()
