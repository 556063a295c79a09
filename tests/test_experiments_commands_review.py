"""`autorater review` from the command line: what is opened, what is printed, what is refused."""

from __future__ import annotations

import socket
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from review_pages import ReviewServer, make_set, write_small_set
from typer.testing import CliRunner

import cli
import experiments.review.serving
from experiments.errors import ReviewError
from experiments.review.label_store import LabelStore
from experiments.review.serving import bind_address
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.errors import MissingDependencyError
from graders.providers import open_client


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Instead of serving, addresses are noted, and whether a browser was to be opened."""
    addresses: list[tuple[str, bool]] = []

    def serve(_app: object, address: experiments.review.serving.Address, *, open_browser: bool) -> None:
        addresses.append((address.url, open_browser))
        address.listening.close()

    monkeypatch.setattr(experiments.review.serving, "serve", serve)
    return addresses


def review(folder: Path, *arguments: str) -> Any:
    files = ("--labels", str(folder / "labels.sqlite"), "--store", str(folder / "store.sqlite"), "--port", "0")
    return CliRunner().invoke(cli.app, ["review", *arguments, *files], catch_exceptions=False)


def test_a_set_is_opened_on_loopback(tmp_path: Path, served: list[tuple[str, bool]]) -> None:
    result = review(tmp_path, str(write_small_set(tmp_path, make_set(n=5))), "--limit", "4")
    assert result.exit_code == 0
    assert "4 items, 0 of 5 labels given, 0 disagreements to decide" in result.stdout
    assert f"the labels are in {tmp_path / 'labels.sqlite'}" in result.stdout
    assert "token" not in result.stdout
    ((url, opened),) = served
    assert url.startswith("http://127.0.0.1:")
    assert not opened


def test_a_run_brings_its_queue(study: Any, served: list[tuple[str, bool]]) -> None:
    with RunStore(study.folder / "store.sqlite") as store:
        run_experiment(load_experiment(study.experiment), store, open_client)
    result = review(study.folder, "study", "--most", "5", "--double", "0", "--open")
    assert "5 items, 0 of 5 labels given" in result.stdout
    assert served[0][1]
    with LabelStore(study.folder / "labels.sqlite", must_exist=True) as labels:
        found = labels.find_review("study")
    assert found.source == "run"
    assert {one.part for one in found.work} == {"ranked", "random"}


def test_the_same_command_goes_on_with_the_same_review(tmp_path: Path, served: list[tuple[str, bool]]) -> None:
    folder = str(write_small_set(tmp_path, make_set()))
    review(tmp_path, folder)
    review(tmp_path, folder)
    with LabelStore(tmp_path / "labels.sqlite") as labels:
        assert len(labels.list_reviews()) == 1
    assert len(served) == 2


def test_a_name_of_nothing_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(ReviewError, match=r"neither a run in .* nor a set; expected"):
        review(tmp_path, "nothing")
    assert not list(tmp_path.iterdir())


def test_a_set_is_not_taken_for_a_run_whose_name_only_begins_so(study: Any, served: list[tuple[str, bool]]) -> None:
    """The run ``probes-more`` stands in the store; ``probes`` is the shipped set."""
    with RunStore(study.folder / "store.sqlite") as store:
        study.write_experiment({'name = "study"': 'name = "probes-more"'})
        run_experiment(load_experiment(study.experiment), store, open_client)
    assert "539 items" in review(study.folder, "probes", "--double", "0").stdout
    assert "8 items" in review(study.folder, "probes-mo", "--double", "0").stdout
    with pytest.raises(Exception, match="probes-mo"):
        review(study.folder, "probes-mo", "--set")
    assert len(served) == 2


def test_options_that_the_name_has_no_use_for_are_refused(study: Any, served: list[tuple[str, bool]]) -> None:
    with RunStore(study.folder / "store.sqlite") as store:
        run_experiment(load_experiment(study.experiment), store, open_client)
    for options in (["--limit", "3"], ["--unlabelled"]):
        with pytest.raises(ReviewError, match=f"{options[0]}: 'study' is a run; expected --set"):
            review(study.folder, "study", *options)
    for options in (["--most", "50"], ["--random-share", "0.2"], ["--grader", "x"]):
        with pytest.raises(ReviewError, match=f"{options[0]}: 'probes' is a set; expected a run's name"):
            review(study.folder, "probes", *options)
    assert not served
    assert not (study.folder / "labels.sqlite").exists()


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ReviewError, match=f"--port {port}: .*in use; expected .*--port 0"):
            bind_address("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", -1), ("127.0.0.1", 65536), ("192.0.2.7", 0), ("no host", 0)])
def test_an_address_that_is_none_of_ours(host: str, port: int) -> None:
    with pytest.raises(ReviewError, match="expected"):
        bind_address(host, port)


def test_opened_to_others_it_asks_for_a_token(tmp_path: Path, served: list[tuple[str, bool]]) -> None:
    result = review(tmp_path, str(write_small_set(tmp_path, make_set())), "--host", "0.0.0.0")
    assert "?token=" in result.stdout
    assert "not encrypted" in result.stderr
    first, second = bind_address("0.0.0.0", 0), bind_address("0.0.0.0", 0)
    assert first.rules.token != second.rules.token
    assert len(first.rules.token or "") >= 32
    first.listening.close()
    second.listening.close()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_loopback_needs_no_token(host: str) -> None:
    address = bind_address(host, 0)
    address.listening.close()
    assert not address.is_open


def test_missing_packages_are_named_with_their_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "experiments.review.app", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'autorater-calibration\[review\]'"):
        review(tmp_path, str(write_small_set(tmp_path, make_set())))


@pytest.mark.slow
def test_ctrl_c_ends_it_and_says_where_the_labels_are(tmp_path: Path) -> None:
    write_small_set(tmp_path, make_set())
    server = ReviewServer(tmp_path, ("./small",))
    try:
        url = server.start()
        with urllib.request.urlopen(url) as answer:
            assert b"Who labels?" in answer.read()
        assert server.interrupt() == (
            "stopped: 6 items, 0 of 8 labels given, 0 disagreements to decide; the labels are in labels.sqlite\n"
        )
        assert server.process is not None
        assert server.process.returncode == 0
    finally:
        server.stop()
