"""A real vLLM server through the product: what is drawn is what was asked for, and its death loses nothing."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import chisquare

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.client import Answer, ModelClient, Request
from graders.dispatch.retry import MOST_ATTEMPTS
from graders.endpoint import Endpoint
from graders.errors import MissingDependencyError, ServiceError
from graders.grader import Grader
from graders.ledger import find_model
from graders.prompt import GraderPrompt
from graders.providers import open_client
from graders.providers.openai_service import open_openai
from graders.providers.vllm_engine import check_vllm
from graders.sampling import Sampling
from graders.verdict import Completion

pytestmark = [pytest.mark.vllm, pytest.mark.slow, pytest.mark.filterwarnings("default")]

MODEL = "vllm-server/small"
FLAGS = {
    "--served-model-name": "small",
    "--host": "127.0.0.1",
    "--dtype": "float32",
    "--generation-config": "vllm",
    "--max-model-len": "4096",
    "--max-num-batched-tokens": "4096",
    "--max-num-seqs": "64",
    "--max-logprobs": "20",
    "--structured-outputs-config": '{"backend": "xgrammar", "disable_any_whitespace": true}',
    "--uvicorn-log-level": "warning",
}
SWITCHES = ["--enforce-eager", "--enable-prompt-tokens-details"]
"""Without the second, the server does not tell how much of a prompt was kept."""

CPU_FLAGS = ["--no-enable-chunked-prefill", "--block-size", "32"]
LONGEST_START = 240.0
TEXT = "Grade the response right (A), wrong (B) or none (C).\n\n$question\n$reference\n$response\n\nYour letter:"
JSON = 'Answer {"verdict": "A"} if right, B if wrong, C if none.\n\n$question\n$reference\n$response'


class Server:
    """``vllm serve`` on a free port of this machine."""

    def __init__(self, model: Path, log: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._model, self._log = model, log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        binary = str(Path(sys.executable).parent / "vllm")
        given = [word for pair in FLAGS.items() for word in pair]
        given += [*SWITCHES, *([] if has_gpu() else CPU_FLAGS)]
        command = [binary, "serve", str(self._model), *given, "--port", str(self.port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, env=server_environment(), start_new_session=True
            )
        until = time.monotonic() + LONGEST_START
        while not self._is_ready():
            assert self._process.poll() is None, self._log.read_text(errors="replace")[-3_000:]
            assert time.monotonic() < until, self._log.read_text(errors="replace")[-3_000:]
            time.sleep(0.3)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def kill(self) -> None:
        """End all its processes at once, as when memory runs out."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


def has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def server_environment() -> dict[str, str]:
    environment = {**os.environ, "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    environment.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    environment.setdefault("VLLM_CPU_OMP_THREADS_BIND", ",".join(map(str, cores)))
    library = Path(sys.prefix) / "lib" / "libiomp5.so"
    return {**environment, "LD_PRELOAD": str(library)} if library.is_file() else environment


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    model = Path(os.environ.get("AUTORATER_VLLM_MODEL", ""))
    try:
        check_vllm()
    except MissingDependencyError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")
    if not (model / "config.json").is_file():
        pytest.skip("SKIPPED, NOT PASSED: AUTORATER_VLLM_MODEL names no folder of a model")
    made = Server(model, tmp_path_factory.mktemp("server") / "log")
    try:
        made.start()
        yield made
    finally:
        made.stop()


def make_prompt(sampling: Sampling, *, form: Any = "chat") -> GraderPrompt:
    channel = "json" if sampling.channel == "json" else "letter"
    text = JSON if channel == "json" else TEXT
    return GraderPrompt("short", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, channel, form, text)


def make_item(number: int = 0, *, more: int = 0) -> Item:
    reference = Reference(f"Ines Okafor {number}", f"Ines Okafor {number}")
    response = f"Brandt of house {number}" + " and" * more
    return Item(f"i{number}", f"Who wrote book {number}?", reference, response, "c")


def ask(server: Server, item: Item, sampling: Sampling, *, form: Any = "chat") -> list[Completion]:
    """What came of all asked repeats of one item, in order."""
    prompt = make_prompt(sampling, form=form)
    endpoint = Endpoint(base_urls=(server.base_url,), max_connections=16)
    grader = Grader(MODEL, sampling, prompt, endpoint=endpoint, capabilities=find_model(MODEL).capabilities)
    asked = Request(item, tuple(range(sampling.asked_repeats)), prompt, sampling, prompt.scale)
    with open_openai(grader) as client:
        answers = sorted(
            (answer for batch in client.complete(iter([asked])) for answer in batch), key=lambda answer: answer.repeat
        )
    assert [answer.repeat for answer in answers] == list(asked.repeats)
    completions = [answer.outcome for answer in answers if isinstance(answer.outcome, Completion)]
    assert len(completions) == len(answers), answers
    return completions


def test_ten_choices_of_one_call_are_letters_billed_once_and_kept_in_the_cache(server: Server) -> None:
    first = ask(server, make_item(1), Sampling())
    again = ask(server, make_item(1), Sampling())
    assert {answer.text for answer in first} <= {"A", "B", "C"}
    assert len({answer.text for answer in first}) > 1
    assert [answer.text for answer in again] == [answer.text for answer in first]
    assert [bool(answer.usage.input_tokens) for answer in first] == [True] + [False] * 9
    assert first[0].usage.output_tokens in (10, 20)  # with or without the token that ends each
    assert first[0].effective_sampling["temperature"] == 2.0
    assert first[0].effective_sampling["constrained"] is True
    assert len({answer.effective_sampling["seed"] for answer in first}) == 10


def test_cached_tokens_are_counted(server: Server) -> None:
    ask(server, make_item(2), Sampling(repeats=1))
    (again,) = ask(server, make_item(2), Sampling(repeats=1, seed=5))
    assert again.usage.cached_tokens
    assert again.usage.input_tokens is not None
    assert again.usage.cached_tokens < again.usage.input_tokens


def test_two_thousand_draws_have_the_exact_distribution(server: Server) -> None:
    (first,) = ask(server, make_item(), Sampling(repeats=1))
    # A prompt that ends just after a block of the cache, so that each draw is cheap.
    item = make_item(more=(1 - (first.usage.input_tokens or 0)) % 32)
    (exact,) = ask(server, item, Sampling(method="exact"))
    assert exact.label_logprobs is not None
    assert exact.label_logprobs.keys() == set(SIMPLEQA.labels)
    drawn = Counter(answer.text for answer in ask(server, item, Sampling(repeats=2_000)))
    letters = [SIMPLEQA.letters[label] for label in exact.label_logprobs]

    def p_value(temperature: float) -> float:
        weights = [math.exp(value / temperature) for value in exact.label_logprobs.values()]
        return float(chisquare([drawn[c] for c in letters], [2_000 * w / math.fsum(weights) for w in weights]).pvalue)

    assert drawn.total() == 2_000
    assert p_value(2.0) > 0.001
    assert p_value(1.0) < 1e-6  # the test can tell the two apart


def test_log_probabilities_do_not_depend_on_temperature(server: Server) -> None:
    cold, hot = (
        ask(server, make_item(), Sampling(temperature=t, channel="logprobs", repeats=1))[0].label_logprobs
        for t in (1.0, 2.0)
    )
    assert cold is not None
    assert cold.keys() == set(SIMPLEQA.labels)
    assert hot == pytest.approx(cold, abs=1e-3)


def test_log_probabilities_of_free_replies_are_of_the_labels_too(server: Server) -> None:
    held, free = (
        ask(server, make_item(), Sampling(channel="logprobs", repeats=1, constrained=c, max_tokens=1))[0].label_logprobs
        for c in (True, False)
    )
    assert held is not None
    assert free is not None
    assert free.keys() == held.keys()
    # Over the whole vocabulary, where the held ones are over the labels.
    assert math.fsum(map(math.exp, free.values())) < math.fsum(map(math.exp, held.values())) <= 1 + 1e-6


def test_json_replies_say_a_verdict(server: Server) -> None:
    drawn = ask(server, make_item(), Sampling(channel="json"))
    spoken = {make_prompt(Sampling(channel="json")).spoken(label) for label in SIMPLEQA.labels}
    assert {json.loads(answer.text or "")["verdict"] for answer in drawn} <= spoken


def test_a_prompt_can_be_continued_as_plain_text(server: Server) -> None:
    drawn = ask(server, make_item(), Sampling(), form="completion")
    assert {(answer.text or "").strip() for answer in drawn} <= {"A", "B", "C"}
    chat = ask(server, make_item(), Sampling())
    assert drawn[0].usage.input_tokens is not None
    assert chat[0].usage.input_tokens is not None
    assert drawn[0].usage.input_tokens < chat[0].usage.input_tokens  # no chat around it


def write_experiment(folder: Path, server: Server, *, n_items: int, repeats: int) -> Path:
    path = folder / "served.toml"
    path.write_text(
        f"""
name = "served"
set = "probes"
items = {{ sample = {n_items}, stratify = "kind", seed = 1, exclude_kinds = ["long"] }}
sampling = {{ temperature = 2.0, repeats = {repeats} }}
max_connections = 4

[[graders]]
model = "{MODEL}"
prompt = "simpleqa_short"
base_url = "{server.base_url}"
""",
        encoding="utf-8",
    )
    return path


def test_the_command_grades_the_shipped_probes_and_reports(server: Server, tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, server, n_items=6, repeats=10)
    store = str(tmp_path / "s.sqlite")
    for arguments in (["run", str(experiment)], ["report", "served", "--format", "json"]):
        command = [sys.executable, "-c", "import cli; cli.main()", *arguments, "--store", store]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    (section,) = report["graders"]
    assert section["model"] == MODEL
    with RunStore(tmp_path / "s.sqlite") as opened:
        (grader,) = load_experiment(str(experiment)).graders
        assert sum(1 for _ in opened.completions(grader.grader_id)) == 60


class KillingClient:
    """A client that counts its answers, and kills the server when the first have come."""

    def __init__(self, client: ModelClient, came: Counter[tuple[str, int]], kill: Callable[[], None] | None) -> None:
        self._client, self._came, self._kill = client, came, kill

    def __enter__(self) -> KillingClient:
        self._client.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._client.__exit__(*error)

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        for answers in self._client.complete(requests):
            self._came.update((a.item_digest, a.repeat) for a in answers if isinstance(a.outcome, Completion))
            yield answers
            if self._kill is not None:
                self._kill()
                self._kill = None


def test_a_killed_and_restarted_server_loses_nothing_and_is_asked_for_nothing_twice(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MOST_ATTEMPTS, "connection", 2)  # type: ignore[arg-type] # a server that stays away, sooner
    experiment = load_experiment(str(write_experiment(tmp_path, server, n_items=48, repeats=3)))
    came: Counter[tuple[str, int]] = Counter()
    with RunStore(tmp_path / "s.sqlite") as store:
        with pytest.raises(ServiceError, match="the same command continues"):
            run_experiment(experiment, store, lambda g: KillingClient(open_client(g), came, server.kill))
        n_before = came.total()
        assert 0 < n_before < 48 * 3
        server.start()
        summary = run_experiment(experiment, store, lambda g: KillingClient(open_client(g), came, None))
        again = run_experiment(experiment, store, lambda g: KillingClient(open_client(g), came, None))
    assert (summary.n_stored, again.n_stored) == (48 * 3 - n_before, 0)
    assert len(came) == 48 * 3
    assert set(came.values()) == {1}
