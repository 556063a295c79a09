"""From answers to runs and sets: items, repeats, ids, what is left out, and that importing again changes nothing."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration_sets.loader import load_set
from calibration_sets.scale import SIMPLEQA
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import GraderReply, ImportedAnswer, ImportedGrader
from experiments.importers.labelling import INSPECT_LABELLINGS, PASS_OR_FAIL, Labelling, read_labelling
from experiments.importers.tool_import import ToolImport, import_runs, import_set
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders.verdict import CallFailure, Completion

BINARY = INSPECT_LABELLINGS["binary"]
JUDGE, JUROR = ImportedGrader("qa", "judge", "11"), ImportedGrader("qa", "juror", "22")


def reply(text: str | None, grader: ImportedGrader = JUDGE, own: str | None = None) -> GraderReply:
    said = CallFailure("timeout", "gone") if text is None else Completion(text=text, served_model="m")
    return GraderReply(grader, said, own)


def answer(number: int, *replies: GraderReply, **fields: object) -> ImportedAnswer:
    known: dict[str, object] = {
        "where": f"line {number}",
        "item_id": f"item {number}",
        "question": f"question {number // 2}?",
        "reference": "right",
        "response": f"response {number}",
        "respondent": "me",
        "replies": replies,
    }
    return ImportedAnswer(**{**known, **fields})  # type: ignore[arg-type]


def wanted(
    folder: Path,
    answers: Sequence[ImportedAnswer],
    *,
    labelling: Labelling = BINARY,
    repeats: int | None = None,
    content: str = "log",
) -> ToolImport:
    log = folder / "log.txt"
    log.write_text(content)

    def read(files: Sequence[Path], account: ImportAccount) -> Iterator[ImportedAnswer]:
        account.n_read += len(answers)
        yield from answers

    return ToolImport("tool", [log], read, labelling, "mine", repeats=repeats)


def rows(store: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(store) as connection:
        return [
            row
            for table in ("completions", "call_failures", "runs", "set_snapshots")
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1")
        ]


def test_importing_again_changes_nothing_failures_included(tmp_path: Path) -> None:
    asked = wanted(tmp_path, [answer(0, reply("C")), answer(1, reply(None)), answer(2, reply("I"))])
    path = tmp_path / "s.sqlite"
    with RunStore(path) as store:
        first = import_runs(asked, store, ImportAccount())
    before = rows(path)
    with RunStore(path) as store:
        assert import_runs(asked, store, ImportAccount()) == first
    assert rows(path) == before
    assert len(before) == 5


def test_other_content_of_the_file_is_another_grader_and_run(tmp_path: Path) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        (one,) = import_runs(wanted(tmp_path, [answer(0, reply("C"))]), store, ImportAccount())
        (two,) = import_runs(wanted(tmp_path, [answer(0, reply("I"))], content="other"), store, ImportAccount())
        said = [load_run_data(store, run)[0].graders[0].verdicts[0].label for run in (one, two)]
    assert said == ["CORRECT", "INCORRECT"]


def test_nothing_is_stored_where_reading_fails(tmp_path: Path) -> None:
    def read(files: Sequence[Path], account: ImportAccount) -> Iterator[ImportedAnswer]:
        yield answer(0, reply("C"))
        raise ImportFileError("log.txt:2: cut off; expected more")

    (tmp_path / "log.txt").write_text("x")
    asked = ToolImport("tool", [tmp_path / "log.txt"], read, BINARY, "mine")
    with RunStore(tmp_path / "s.sqlite") as store, pytest.raises(ImportFileError, match="cut off"):
        import_runs(asked, store, ImportAccount())
    assert rows(tmp_path / "s.sqlite") == []


def test_a_duplicate_id_is_numbered_on_and_no_item_is_lost(tmp_path: Path) -> None:
    answers = [answer(at, reply("C"), item_id="same") for at in range(3)]
    account = ImportAccount()
    with RunStore(tmp_path / "s.sqlite") as store:
        (run,) = import_runs(wanted(tmp_path, answers), store, account)
        items = load_run_data(store, run)[0].calibration_set.items
    assert [item.item_id for item in items] == ["same", "same~2", "same~3"]
    assert account.notes["an id that another item has: numbered on"].count == 2


def test_a_grader_that_judged_some_items_only_is_told(tmp_path: Path) -> None:
    account = ImportAccount()
    asked = wanted(tmp_path, [answer(0, reply("C"), reply("I", JUROR)), answer(1, reply("C"))])
    with RunStore(tmp_path / "s.sqlite") as store:
        (run,) = import_runs(asked, store, account)
        data, _ = load_run_data(store, run)
    by_model = {grader.model: [verdict.label for verdict in grader.verdicts] for grader in data.graders}
    assert by_model["imported/juror"].count(None) == 1
    assert account.notes["an item that this grader was not asked about: not answered"].count == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"response": "half \ud83d"}, "half a surrogate pair or a null"),
        ({"question": "a\x00b"}, "half a surrogate pair or a null"),
        ({"question": "  "}, "no question"),
        ({"reference": "\n"}, "no reference"),
    ],
)
def test_what_can_be_no_item_is_left_out_with_its_replies(
    tmp_path: Path, fields: dict[str, object], reason: str
) -> None:
    account = ImportAccount()
    answers = [answer(0, reply("C")), answer(1, reply("I"), **fields)]
    with RunStore(tmp_path / "s.sqlite") as store:
        (run,) = import_runs(wanted(tmp_path, answers), store, account)
        data, _ = load_run_data(store, run)
    assert [item.item_id for item in data.calibration_set.items] == ["item 0"]
    (told,) = account.left_out
    assert reason in told
    assert (account.n_replies, account.left_out[told].first) == (1, "line 1")


def test_a_reply_with_half_a_surrogate_or_of_great_length_is_kept_as_it_is(tmp_path: Path) -> None:
    texts = ["\ud83d GRADE: C", "x" * 1_000_000 + "\nGRADE: I"]
    with RunStore(tmp_path / "s.sqlite") as store:
        (run,) = import_runs(
            wanted(tmp_path, [answer(at, reply(text)) for at, text in enumerate(texts)]), store, ImportAccount()
        )
        data, _ = load_run_data(store, run)
        kept = {one.text for one in store.completions(data.graders[0].grader_id).values()}
    assert kept == set(texts)
    assert Counter(verdict.label for verdict in data.graders[0].verdicts) == {"CORRECT": 1, "INCORRECT": 1}


def test_own_verdicts_are_held_against_ours(tmp_path: Path) -> None:
    account = ImportAccount()
    said = [reply("GRADE: C", own="C"), reply("GRADE: I", own="C"), reply("hm", own="I"), reply("GRADE: C")]
    answers = [answer(at, one) for at, one in enumerate([*said, reply("hm"), reply("GRADE: I", own="P")])]
    with RunStore(tmp_path / "s.sqlite") as store:
        import_runs(wanted(tmp_path, answers), store, account)
    assert account.n_alike == 2
    assert set(account.other_verdicts) == {
        "the tool says 'C' (CORRECT), we read INCORRECT",
        "the tool says 'I' (INCORRECT), we read unparsed",
        "the tool says none, we read CORRECT",
    }
    assert account.notes["the tool's verdict 'P' stands for no label of the scale"].count == 1


@settings(max_examples=25)
@given(counts=st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_no_reply_is_lost_and_repeats_are_what_every_item_has(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("counts")
    answers = [answer(at, reply("GRADE: C")) for at, count in enumerate(counts) for _ in range(count)]
    account = ImportAccount()
    with RunStore(folder / "s.sqlite") as store:
        (run,) = import_runs(wanted(folder, answers), store, account)
        data, _ = load_run_data(store, run)
        kept = store.count_completions()
    assert kept == min(counts) * len(counts) == len(data.graders[0].verdicts)
    assert all(verdict.label == "CORRECT" for verdict in data.graders[0].verdicts)
    assert kept + sum(tally.count for tally in account.left_out.values()) == sum(counts) == account.n_replies


def test_no_reply_at_all_and_no_file_are_refused(tmp_path: Path) -> None:
    with RunStore(tmp_path / "s.sqlite") as store:
        with pytest.raises(ImportFileError, match=r"log\.txt: no reply of a grader; nothing was in it"):
            import_runs(wanted(tmp_path, [answer(0)]), store, ImportAccount())
        twice = wanted(tmp_path, [answer(0, reply("C"))])
        (tmp_path / "copy.txt").write_text("log")
        asked = ToolImport("tool", [*twice.files, tmp_path / "copy.txt"], twice.read, BINARY, "mine")
        with pytest.raises(ImportFileError, match=r"copy\.txt: the same content as log\.txt"):
            import_runs(asked, store, ImportAccount())


@pytest.mark.parametrize(("name", "repeats", "told"), [("a b", None, "--name"), ("a", 0, "--repeats: 0")])
def test_names_and_repeats_that_cannot_be_are_refused(name: str, repeats: int | None, told: str) -> None:
    with pytest.raises(ImportFileError, match=told):
        ToolImport("tool", [Path("x")], lambda *_: iter(()), BINARY, name, repeats=repeats)


def test_a_set_has_every_response_once_and_no_label(tmp_path: Path) -> None:
    answers = [answer(0, reply("C"), part="a"), answer(0, part="b"), answer(1, part="b", item_id="item 0")]
    import_set(wanted(tmp_path, answers, labelling=Labelling(SIMPLEQA, {})), tmp_path / "made", ImportAccount())
    made = load_set(tmp_path / "made")
    assert [item.response for item in made.items] == ["response 0", "response 1"]
    assert len({item.item_id for item in made.items}) == 2
    assert made.human_labels == ()


@pytest.mark.parametrize(
    ("entries", "scale", "told"),
    [
        (["nope"], None, "expected one of binary, partial"),
        (["binary"], "simpleqa", "--scale: given with --labels binary"),
        (["C=RIGHT"], None, r"expected .*TEXT=LABEL, each text once, with one of \[INCORRECT, CORRECT\]"),
        (["C=CORRECT", "C=INCORRECT"], None, "each text once"),
        (["c=CORRECT", "C=INCORRECT"], None, "more than one label"),
        (["=CORRECT"], None, "expected"),
        (["C=CORRECT"], "nope", "--scale: 'nope'"),
    ],
)
def test_labellings_that_cannot_be_are_refused(entries: list[str], scale: str | None, told: str) -> None:
    with pytest.raises(ImportFileError, match=told):
        read_labelling(entries, scale, INSPECT_LABELLINGS)


def test_entries_of_ones_own_are_words_and_a_letter_of_the_scale_gives_way(tmp_path: Path) -> None:
    own = read_labelling(["A=INCORRECT", "P=CORRECT"], "simpleqa", INSPECT_LABELLINGS)
    answers = [answer(0, reply("GRADE: A")), answer(1, reply("GRADE: P")), answer(2, reply("GRADE: B"))]
    with RunStore(tmp_path / "s.sqlite") as store:
        (run,) = import_runs(wanted(tmp_path, answers, labelling=own), store, ImportAccount())
        data, _ = load_run_data(store, run)
    order = [item.digest for item in data.calibration_set.items]
    said = {verdict.item_digest: verdict.label for verdict in data.graders[0].verdicts}
    assert [said[digest] for digest in order] == ["INCORRECT", "CORRECT", "INCORRECT"]


def test_a_labelling_on_a_set_of_another_scale_is_refused() -> None:
    partial = INSPECT_LABELLINGS["partial"]
    with pytest.raises(ImportFileError, match="PARTIAL_ANSWER is not on the set's scale"):
        partial.on_set(SIMPLEQA)
    assert PASS_OR_FAIL["binary"].on_set(SIMPLEQA).scale == SIMPLEQA
