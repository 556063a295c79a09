"""Recorded completions: strict files, faithful answers, the recorded pace."""

from __future__ import annotations

import json
import string
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from graders.client import Request
from graders.errors import RecordingError
from graders.providers.replay import Recorded, ReplayClient, read_recording, recording_digest, write_recording
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion, Usage


def make_item(number: int) -> Item:
    return Item(str(number), f"Question {number}?", Reference("Brelin", "Brelin", ("Brelin",)), "Brelin", f"c{number}")


def make_request(item: Item, *repeats: int) -> Request:
    return Request(item, repeats, None, Sampling(), SIMPLEQA)


def answer_all(client: ReplayClient, requests: list[Request]) -> dict[int, Completion | CallFailure]:
    return {answer.repeat: answer.outcome for batch in client.complete(requests) for answer in batch}


def write_lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_answers_come_back_as_recorded_and_missing_ones_are_call_failures(tmp_path: Path) -> None:
    item = make_item(1)
    path = write_lines(
        tmp_path / "r.jsonl",
        {"digest": item.digest, "repeat": 1, "text": "B", "usage": {"input_tokens": 9}, "stop_reason": "length"},
        "",
        {"item": item.digest, "repeat": 0, "text": None, "served_model": "gpt-x", "label_logprobs": {"CORRECT": -0.5}},
        {"digest": item.digest, "repeat": 2, "failure": {"reason": "timeout", "message": "60 s"}},
    )
    with ReplayClient(path) as client:
        answers = answer_all(client, [make_request(item, 0, 1), make_request(item, 2, 3)])
    assert answers[0] == Completion(text=None, served_model="gpt-x", label_logprobs={"CORRECT": -0.5})
    assert answers[1] == Completion("B", "replay", stop_reason="length", usage=Usage(input_tokens=9))
    assert answers[2] == CallFailure("timeout", "60 s")
    assert isinstance(answers[3], CallFailure)
    assert answers[3].reason == "not_recorded"


def test_another_wording_of_the_item_is_not_recorded(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", {"digest": make_item(1).digest, "repeat": 0, "text": "A"})
    with ReplayClient(path) as client:
        (answer,) = answer_all(client, [make_request(make_item(2), 0)]).values()
    assert isinstance(answer, CallFailure)


def test_the_recorded_pace_is_kept_and_answers_come_one_by_one(tmp_path: Path) -> None:
    item = make_item(1)
    rows = [{"digest": item.digest, "repeat": r, "text": "A", "seconds": 0.3} for r in range(3)]
    with ReplayClient(write_lines(tmp_path / "r.jsonl", *rows)) as client:
        begin = time.monotonic()
        answers = client.complete(iter([make_request(item, 0, 1), make_request(item, 2)]))
        assert [answer.repeat for answer in next(answers)] == [0]
        first = time.monotonic() - begin
        list(answers)
        assert 0.25 <= first < 0.55
        assert time.monotonic() - begin >= 0.8


GOOD = '{"digest": "d", "repeat": 0, "text": "A"}'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"digest": "d", "repeat": 1, "text": "A", "grade": "A"}', "grade"),
        ('{"digest": "d", "repeat": 1}', "text"),
        ('{"repeat": 1, "text": "A"}', "digest"),
        ('{"digest": "", "repeat": 1, "text": "A"}', "digest"),
        ('{"digest": "d", "text": "A"}', "repeat"),
        ('{"digest": "d", "repeat": "1", "text": "A"}', "repeat"),
        ('{"digest": "d", "repeat": true, "text": "A"}', "repeat"),
        ('{"digest": "d", "repeat": 1.0, "text": "A"}', "repeat"),
        ('{"digest": "d", "repeat": -1, "text": "A"}', "repeat"),
        ('{"digest": "d", "repeat": 1, "text": 5}', "text"),
        ('{"digest": "d", "repeat": 1, "text": "A", "failure": {"reason": "x"}}', "text"),
        ('{"digest": "d", "repeat": 1, "failure": {"reason": ""}}', "reason"),
        ('{"digest": "d", "repeat": 1, "text": "A", "seconds": -1}', "seconds"),
        ('{"digest": "d", "repeat": 1, "text": "A", "seconds": NaN}', "NaN"),
        ('{"digest": "d", "repeat": 1, "text": "A", "label_logprobs": {"CORRECT": -Infinity}}', "Infinity"),
        ('{"digest": "d", "repeat": 1, "text": "A", "usage": {"tokens": 1}}', "usage.tokens"),
        ('{"digest": "d", "repeat": 1, "text": "A", "repeat": 2}', "twice"),
        ('{"digest": "d", "repeat": 1, "text": "\\ud800"}', "surrogates"),
        ('["d", 1, "A"]', "list"),
        ("not json", "Expecting value"),
        ('{"digest": "d", "repeat": 1, "text": "A"', "delimiter"),
        ('{"digest": "d", "repeat": 0, "text": "B"}', "again"),
        ('{"item": "d", "repeat": 0, "failure": {"reason": "x"}}', "again"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = write_lines(tmp_path / "r.jsonl", GOOD, line)
    with pytest.raises(RecordingError) as caught:
        read_recording(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:2: ")
    assert said in message
    assert "\n" not in message


def test_a_file_that_is_no_text_and_a_missing_one_are_errors(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(b'{"digest": "\xff"}\n')
    with pytest.raises(RecordingError, match=r"r\.jsonl:1: "):
        read_recording(tmp_path / "r.jsonl")
    with pytest.raises(RecordingError, match=r"No such file"), ReplayClient(tmp_path / "none.jsonl"):
        pass
    with pytest.raises(RecordingError, match=r"No such file"):
        recording_digest(tmp_path / "none.jsonl")


def test_the_digest_follows_the_content_only(tmp_path: Path) -> None:
    one, two = write_lines(tmp_path / "1.jsonl", GOOD), write_lines(tmp_path / "2.jsonl", GOOD)
    assert recording_digest(one) == recording_digest(two)
    write_lines(two, GOOD.replace('"A"', '"B"'))
    assert recording_digest(one) != recording_digest(two)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
numbers = st.one_of(st.none(), st.integers(0, 10**9))
completions = st.builds(
    Completion,
    text=st.one_of(st.none(), texts),
    served_model=texts,
    stop_reason=st.sampled_from(["stop", "length", "refusal", None]),
    label_logprobs=st.one_of(st.none(), st.dictionaries(texts, st.floats(-99, 0), max_size=3)),
    usage=st.builds(Usage, numbers, numbers, numbers, numbers, numbers),
    effective_sampling=st.dictionaries(st.text(string.ascii_letters, min_size=1), st.floats(0, 2), max_size=2),
    stated_label=st.one_of(st.none(), texts),
    stated_failure=st.sampled_from([None, "refused", "truncated"]),
    turns=st.lists(st.fixed_dictionaries({"said": texts, "opened": st.lists(st.integers(1, 9), max_size=1)})).map(
        tuple
    ),
    other_logprobs=st.lists(st.floats(-99, 0), max_size=3).map(tuple),
    fingerprint=st.one_of(st.none(), texts),
)
failures = st.builds(
    CallFailure,
    st.text(string.ascii_letters, min_size=1),
    texts,
    st.one_of(st.none(), st.builds(Usage, numbers, numbers, numbers, numbers, numbers)),
)
answers = st.one_of(completions, failures)


@given(st.lists(answers, max_size=5), st.floats(0, 9))
@settings(max_examples=60)
def test_what_is_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, given_: list[object], pace: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "round_trip.jsonl"
    rows = tuple(Recorded("d", repeat, answer, pace) for repeat, answer in enumerate(given_))  # type: ignore[arg-type]
    write_recording(path, rows)
    assert read_recording(path) == rows


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", GOOD)
    bad = Recorded("d", 1, Completion("A", "m", label_logprobs={"CORRECT": float("nan")}))
    with pytest.raises(RecordingError, match=r"r\.jsonl:2: "):
        write_recording(path, [Recorded("d", 0, Completion("B", "m")), bad])
    assert path.read_text(encoding="utf-8") == GOOD + "\n"
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]
