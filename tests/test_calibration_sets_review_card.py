"""The review card: a form with states, read strictly, filled in by hand or by command, exported as Markdown."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest
from command_line import autorater
from curation_samples import make_question
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.audit.audit_folder import label_question, start_audit
from calibration_sets.audit.review_card import CRITERIA, Judgement, ReviewCard, read_card, set_card_values, write_card
from calibration_sets.curation.question_file import question_data
from calibration_sets.errors import SetFileError
from calibration_sets.writer import write_lines

TODAY = datetime.date(2026, 11, 30)
LINE = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=20)
REASON = LINE.filter(lambda text: bool(text.strip()))


@pytest.fixture
def card(tmp_path: Path) -> Path:
    write_card(ReviewCard(name="A set"), tmp_path / "card.toml")
    return tmp_path / "card.toml"


def test_an_empty_card_asks_each_question_and_has_looked_at_nothing(card: Path) -> None:
    text = card.read_text()
    assert all(f"# {asked}\n[{name}]\n" in text for name, asked in CRITERIA.items())
    assert {one.state for one in read_card(card).judgements.values()} == {"not_looked_at"}
    assert list(read_card(card).judgements) == list(CRITERIA)


@given(name=REASON, reason=REASON, by=REASON)
def test_a_card_reads_back_whatever_its_texts(
    tmp_path_factory: pytest.TempPathFactory, name: str, reason: str, by: str
) -> None:
    path = tmp_path_factory.mktemp("card") / "card.toml"
    written = ReviewCard(name=name, fairness=Judgement(state="holds", reason=reason, by=by, on="2026-11-30"))
    write_card(written, path)
    assert read_card(path) == written


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('state = "not_looked_at"', 'state = "good"', "reviewability.state: text 'good'; expected 'not_looked_at'"),
        ('state = "not_looked_at"', 'state = "holds"', "expected reason, by, on for the state 'holds'"),
        ('reason = ""', "reason = 3", "reviewability.reason: number 3; expected text"),
        ('\non = ""', '\non = "yesterday"', "reviewability.on: text 'yesterday'; expected a day such as 2026-11-30"),
        ('\non = ""', "\non = 2026-11-30T10:00:00", "reviewability.on: "),
        ('by = ""', 'who = ""', "unknown key 'reviewability.who'; expected state, reason, by, on"),
        ("[fairness]", "[fairnes]", "unknown key 'fairnes'; expected name, audit, versions, reviewability"),
        ("versions = []", 'versions = ["a.csv"]', "versions: list ['a.csv']; expected two files, old and new, or none"),
        ('name = "A set"', "name = A set", "not TOML"),
    ],
)
def test_a_card_that_says_anything_else_is_refused(card: Path, old: str, new: str, told: str) -> None:
    card.write_text(card.read_text().replace(old, new, 1))
    with pytest.raises(SetFileError, match=re.escape(told)) as error:
        read_card(card)
    assert str(error.value).startswith("card.toml:")


def test_a_day_may_be_written_as_toml_has_it(card: Path) -> None:
    card.write_text(card.read_text().replace('\non = ""', "\non = 2026-11-30", 1))
    assert read_card(card).reviewability.on == "2026-11-30"


def test_values_are_set_together_or_not_at_all(card: Path) -> None:
    before = card.read_bytes()
    with pytest.raises(SetFileError, match="expected reason, by for the state 'holds'"):
        set_card_values(card, ["scoring.state=holds"], today=TODAY)
    for wrong in ("scoring=holds", "scoring.state", "score.state=holds", "version=a.csv", "scoring.when=x"):
        with pytest.raises(SetFileError, match=re.escape(f"--set {wrong!r}; expected KEY=VALUE with name, audit")):
            set_card_values(card, ["name=Other", wrong], today=TODAY)
    assert card.read_bytes() == before
    values = ["scoring.state=holds", "scoring.reason=a = b", "scoring.by=Ann", "name=Other"]
    set_card_values(card, values, today=TODAY)
    found = read_card(card)
    assert found.scoring == Judgement(state="holds", reason="a = b", by="Ann", on="2026-11-30")
    assert (found.name, found.fairness.state) == ("Other", "not_looked_at")
    set_card_values(card, ["scoring.state=does_not_hold", "scoring.on=2026-12-01"], today=TODAY)
    assert read_card(card).scoring.on == "2026-12-01"


def test_values_are_put_in_their_place_and_comments_are_kept(card: Path) -> None:
    text = card.read_text().replace("[scoring]\n", "# two of us looked\n[scoring]  # at last\n")
    text = text.replace('audit = ""', 'audit = "" # "none" # yet').replace(
        '[fairness]\nstate = "not_looked_at"\n', "[fairness]\n"
    )
    card.write_text(f"{text}# the end")
    given = [
        "scoring.state=holds",
        'scoring.reason="#"',
        "scoring.by=Ann",
        "audit=.",
        "versions=a.csv",
        "versions=b.csv",
    ]
    set_card_values(card, given, today=TODAY)
    found = card.read_text()
    assert (
        '# two of us looked\n[scoring]  # at last\nstate = "holds"\nreason = "\\"#\\""\nby = "Ann"\non = "2026-11-30"\n'
        in found
    )
    assert 'audit = "."  # "none" # yet\nversions = ["a.csv", "b.csv"]\n' in found
    assert found.endswith("# the end\n")
    set_card_values(card, ["versions=", "fairness.state=not_looked_at"], today=TODAY)
    assert (read_card(card).versions, read_card(card).scoring.by) == ([], "Ann")
    with pytest.raises(SetFileError, match="versions: list \\['a'\\]; expected two files"):
        set_card_values(card, ["versions=a"], today=TODAY)
    with pytest.raises(SetFileError, match="name comes twice; expected once"):
        set_card_values(card, ["name=a", "name=b"], today=TODAY)


@pytest.mark.parametrize(
    "text",
    [
        'name = "x"\nscoring = {state = "not_looked_at", by = "Bo"}\n',
        'name = "x"\nscoring.by = "Bo"\n',
        'name = "x"\n[scoring]\n"by" = "Bo"\n',
    ],
)
def test_a_card_in_which_no_value_can_be_put_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "card.toml"
    path.write_text(text)
    with pytest.raises(SetFileError, match=r"card.toml: written so that --set cannot put values in their place"):
        set_card_values(path, ["scoring.by=Ann"], today=TODAY)
    assert path.read_text() == text


@given(reason=LINE, by=LINE, name=REASON)
def test_whatever_is_set_reads_back_and_can_be_set_again(
    tmp_path_factory: pytest.TempPathFactory, reason: str, by: str, name: str
) -> None:
    path = tmp_path_factory.mktemp("card") / "card.toml"
    path.write_text("name = \"\"\"\n[scoring]\nby = 3\n\"\"\"\n[scoring]\nreason = '''\n# no\n''' # yes")
    set_card_values(path, [f"name={name}", f"scoring.reason={reason}", f"scoring.by={by}"], today=TODAY)
    set_card_values(path, [f"scoring.by={by}!"], today=TODAY)
    found = read_card(path)
    assert (found.name, found.scoring.reason, found.scoring.by) == (name, reason, f"{by}!")
    assert "# yes" in path.read_text()


def test_the_program_fills_in_what_it_knows_and_sets_no_state(tmp_path: Path) -> None:
    questions = [make_question("a", urls=("https://a.example/",)), make_question("b", urls=("at home",))]
    write_lines(tmp_path / "old.jsonl", map(question_data, questions))
    write_lines(tmp_path / "new.jsonl", [question_data(make_question("a", answer="Sandrey"))])
    start_audit(questions, tmp_path / "audit", source="set.csv", size=50, seed=0)
    label_question(tmp_path / "audit", "a", label="OK", evidence="", note="")
    label_question(tmp_path / "audit", "b", label="unanswerable", evidence="", note="")
    empty = autorater(tmp_path, "audit", "card", "audit/card.toml", "--new")
    assert (empty.code, "0 of 6 looked at." in empty.out) == (0, True)
    path = tmp_path / "audit" / "card.toml"
    path.write_text(path.read_text().replace("versions = []", 'versions = ["../old.jsonl", "../new.jsonl"]'))
    ran = autorater(tmp_path, "audit", "card", "audit/card.toml", "--format", "md", "--out", "CARD.md")
    assert (ran.code, ran.err) == (0, "wrote CARD.md\n")
    text = (tmp_path / "CARD.md").read_text()
    assert "- 1 of 2 sampled questions name a source on the web." in text
    assert "- Error rate, any label but OK: 50.0% [50.0, 50.0], from 2 of 2 questions" in text
    assert "- FAIL: the error rate is above 20.0%." in text
    assert "1 questions in both, 0 added, 1 removed; 0 reworded, 1 with another answer, 0 with another range." in text
    assert text.count("State: not looked at") == 6


def test_a_card_is_exported_as_text_that_cannot_act_as_markup(card: Path) -> None:
    values = ["fairness.state=holds_partly", "fairness.reason=<script>x</script> | [a](http://b)", "fairness.by=Ann"]
    words = [word for value in values for word in ("--set", value)]
    ran = autorater(card.parent, "audit", "card", "card.toml", *words, "--format", "md")
    assert ran.code == 0
    assert "| fairness | holds partly | Ann |" in ran.out
    assert "<script>" not in ran.out
    assert "[a](http" not in ran.out
    assert "\n## Fairness\n" in ran.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("none.toml",), "none.toml: no such file in "),
        (("card.toml", "--new"), "card.toml: a card or another file is there; expected none"),
        (("card.toml", "--set", "audit=gone"), "audit.json: no such file in gone"),
    ],
)
def test_what_a_person_must_mend_is_one_line(card: Path, words: tuple[str, ...], told: str) -> None:
    ran = autorater(card.parent, "audit", "card", *words)
    assert (ran.code, ran.err.startswith(f"error: {told}"), len(ran.err.splitlines())) == (2, True, 1)
