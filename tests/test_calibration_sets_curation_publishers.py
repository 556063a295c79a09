"""Publishers' choices: robots.txt rules for named robots, read from files or fetched."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from curation_samples import ids, make_question

import calibration_sets.curation.robots_files as robots_files
from calibration_sets.curation.publishers import drop_excluded_sources
from calibration_sets.curation.robots_files import Fetched, RobotsRules, fetch_robots, fetch_text, read_robots
from calibration_sets.errors import SetFileError

pytest.importorskip("protego", reason="SKIPPED, NOT PASSED: the extra 'curation' is not installed")

ANY = "https://site.example/a"
AGENTS = ["Google-Extended", "GPTBot"]


def _drop(rules: RobotsRules, *urls: str, agents=AGENTS, match="any", unknown="keep"):
    question = make_question("q", urls=urls)
    return drop_excluded_sources([question], rules, agents=agents, match=match, unknown=unknown)


@pytest.mark.parametrize(
    ("text", "url", "stays"),
    [
        ("User-agent: Google-Extended\nDisallow: /", "https://site.example/a", False),
        ("User-agent: google-extended\nDisallow: /", "https://site.example/a", False),
        ("User-agent: *\nDisallow: /", "https://site.example/a", False),
        (
            "User-agent: *\nDisallow: /\n\nUser-agent: Google-Extended\nUser-agent: GPTBot\nAllow: /",
            ANY,
            True,
        ),
        ("User-agent: Bingbot\nDisallow: /", "https://site.example/a", True),
        ("User-agent: GPTBot\nDisallow: /private", "https://site.example/public", True),
        ("User-agent: GPTBot\nDisallow: /private", "https://site.example/private/a", False),
        ("User-agent: *\nDisallow: /*.pdf$", "https://site.example/a.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "https://site.example/a.pdf?x=1", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "https://site.example/a/b/c", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a/b", "https://site.example/a/b/c", False),
        ("User-agent: GPTBot\nDisallow:", "https://site.example/a", True),
        ("", "https://site.example/a", True),
        ("\ufeffUser-agent: *\nDisallow: /", "https://site.example/a", False),
        ("User-agent: Google\nUser-agent: G\nDisallow: /", "https://site.example/a", True),
        ("User-agent: Google\nAllow: /\n\nUser-agent: *\nDisallow: /", "https://site.example/a", False),
        ("User-agent: GPTBot/1.1 # theirs\nDisallow: /", "https://site.example/a", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "https://site.example/a", True),
        ("<html>not found</html>", "https://site.example/a", True),
    ],
)
def test_rules_of_a_host(text: str, url: str, stays: bool) -> None:
    result = _drop(RobotsRules({"site.example": text}), url)
    assert bool(result.kept) is stays
    assert stays or (result.drops[0].reason, result.drops[0].detail) == ("publisher shuts a robot out", url)


def test_one_named_robot_that_is_shut_out_is_enough_and_others_do_not_count() -> None:
    rules = RobotsRules({"site.example": "User-agent: GPTBot\nDisallow: /"})
    assert _drop(rules, "https://site.example/a").kept == ()
    assert ids(_drop(rules, "https://site.example/a", agents=["Google-Extended"]).kept) == ["q"]


def test_any_address_or_the_first() -> None:
    rules = RobotsRules({"open.example": "", "shut.example": "User-agent: *\nDisallow: /"})
    urls = ("https://open.example/a", "https://shut.example/a")
    assert _drop(rules, *urls).kept == ()
    assert ids(_drop(rules, *urls, match="first").kept) == ["q"]
    assert _drop(rules, *reversed(urls), match="first").kept == ()


def test_the_rules_of_one_host_are_not_anothers() -> None:
    rules = RobotsRules({"site.example": "User-agent: *\nDisallow: /"}, without=["none.example"])
    assert ids(_drop(rules, "https://en.site.example/a").kept) == ["q"]
    assert _drop(rules, "https://none.example/a").notes == ()


def test_unknown_is_counted_and_kept_or_dropped_as_wanted() -> None:
    rules = RobotsRules({"open.example": ""})
    urls = ("https://open.example/a", "https://other.example/a")
    kept = _drop(rules, *urls)
    assert ids(kept.kept) == ["q"]
    assert kept.notes == ("1 questions with a source whose rules are not at hand (1 hosts): kept",)
    dropped = _drop(rules, *urls, unknown="drop")
    assert (dropped.drops[0].reason, dropped.drops[0].detail) == ("publisher's choice unknown", "other.example")
    assert ids(_drop(rules, unknown="drop").kept) == ["q"], "a question without an address has no publisher"


def test_rules_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "Site.example.txt").write_bytes(b"# caf\xe9\nUser-agent: *\nDisallow: /\n")
    (tmp_path / "hosts.jsonl").write_text(
        '{"host": "gone.example", "status": 404}\n{"host": "broken.example", "status": 503}\n'
        '{"host": "silent.example", "status": null}\n'
    )
    rules = read_robots(tmp_path)
    hosts = ("site", "gone", "broken", "silent", "other")
    rulings = {host: rules.rule(f"https://{host}.example/a", AGENTS) for host in hosts}
    assert rulings == {
        "site": "excluded",
        "gone": "allowed",
        "broken": "unknown",
        "silent": "unknown",
        "other": "unknown",
    }
    assert read_robots(None).rule("https://site.example/", AGENTS) == "unknown"
    with pytest.raises(SetFileError, match="no such folder"):
        read_robots(tmp_path / "none")
    (tmp_path / "hosts.jsonl").write_text('{"host": 3, "status": 404}\n')
    with pytest.raises(SetFileError, match=r"hosts.jsonl:1: host 3, status 404"):
        read_robots(tmp_path)


def test_fetching_goes_on_where_it_stopped_and_asks_again_what_did_not_answer(tmp_path: Path) -> None:
    answers = {
        "a": Fetched(200, "User-agent: *\nDisallow: /"),
        "b": Fetched(404),
        "c": Fetched(None),
        "d": Fetched(429),
    }
    asked: list[str] = []

    def fetch(host: str) -> Fetched:
        asked.append(host)
        return answers[host]

    assert fetch_robots(answers, tmp_path, fetch) == {"a": 200, "b": 404, "c": None, "d": 429}
    assert sorted(asked) == ["a", "b", "c", "d"]
    asked.clear()
    answers["c"] = Fetched(200, "")
    assert fetch_robots(answers, tmp_path, fetch)["c"] == 200
    assert sorted(asked) == ["c", "d"]
    rules = read_robots(tmp_path)
    assert [rules.rule(f"https://{host}/", AGENTS) for host in "abcd"] == ["excluded", "allowed", "allowed", "unknown"]


def test_what_was_fetched_stays_when_a_fetch_is_broken_off(tmp_path: Path) -> None:
    def fetch(host: str) -> Fetched:
        if host == "b":
            raise KeyboardInterrupt
        return Fetched(200, "User-agent: *\nDisallow: /")

    with pytest.raises(KeyboardInterrupt):
        fetch_robots(["a", "b"], tmp_path, fetch, parallel=1)
    assert [json.loads(line) for line in (tmp_path / "hosts.jsonl").read_text().splitlines()] == [
        {"host": "a", "status": 200}
    ]


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, text = (200, b"User-agent: *\nDisallow: /\n") if self.path == "/robots.txt" else (404, b"")
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words: object) -> None:
        """Nothing to stderr."""


@pytest.fixture
def site() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_real_answer_and_hosts_that_cannot_be_reached(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_files, "ADDRESS", "http://{host}/robots.txt")
    assert fetch_text(site) == Fetched(200, "User-agent: *\nDisallow: /\n")
    monkeypatch.setattr(robots_files, "ADDRESS", "http://{host}/elsewhere")
    assert fetch_text(site) == Fetched(404)
    assert fetch_text("127.0.0.1:1") == Fetched(None)
    assert fetch_text("no host") == Fetched(None)


def test_a_slow_host_keeps_no_others_answer_waiting(tmp_path: Path) -> None:
    others_kept = threading.Event()

    def fetch(host: str) -> Fetched:
        if host == "a.example":
            assert others_kept.wait(20)
        return Fetched(404)

    def watch() -> None:
        while "c.example" not in (path.read_text() if path.exists() else ""):
            others_kept.wait(0.01)
        others_kept.set()

    path = tmp_path / "hosts.jsonl"
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    assert fetch_robots(["a.example", "b.example", "c.example"], tmp_path, fetch, parallel=2)["a.example"] == 404
    assert others_kept.is_set()


def test_a_redirection_that_leads_nowhere_is_no_answer(tmp_path: Path) -> None:
    assert fetch_robots(["a.example"], tmp_path, lambda _: Fetched(302)) == {"a.example": 302}
    assert fetch_robots(["a.example"], tmp_path, lambda _: Fetched(200, "User-agent: *")) == {"a.example": 200}


def test_a_host_that_goes_on_for_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless:
        status = 200

        def read1(self, _size: int) -> bytes:
            return b"#"

        def __enter__(self) -> Endless:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(robots_files, "TIMEOUT", 0.05)
    monkeypatch.setattr(robots_files.urllib.request, "urlopen", lambda *_, **__: Endless())
    assert fetch_text("a.example") == Fetched(None)
