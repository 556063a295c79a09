"""The stages in which people have the word: pairs, sources, ranges; and the files that they fill in."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from curation_samples import NO_RESPONSES, fill_in, ids, make_question, make_responses
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.curation.lexical_duplicates import drop_lexical_duplicates, lexical_review
from calibration_sets.curation.number_classes import classify_number, propose_range
from calibration_sets.curation.numeric_conflicts import drop_numeric_conflicts, numeric_review, relative_distance
from calibration_sets.curation.proposed_ranges import apply_confirmed_ranges, propose_ranges, range_review
from calibration_sets.curation.review_file import ReviewFile
from calibration_sets.curation.settings import RangeSettings
from calibration_sets.curation.single_number import read_single_number
from calibration_sets.curation.source_answers import SourceAnswers, read_source_answers
from calibration_sets.curation.source_conflicts import conflict_review, settle_source_conflicts
from calibration_sets.curation.source_urls import url_key
from calibration_sets.defused_cells import defuse, restore
from calibration_sets.errors import SetFileError
from calibration_sets.tables import read_csv

SITE, OTHER = "https://site.example/a", "https://other.example/b"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-5", "@x", " =1", "'=1", "＝1", "\t=1", "''-1"])
def test_formulas_are_defused_and_come_back(text: str) -> None:
    assert defuse(text).startswith("'")
    assert restore(defuse(text)) == text


@given(st.text())
def test_every_text_comes_back(text: str) -> None:
    assert restore(defuse(text)) == text
    assert not defuse(text).lstrip().startswith(("=", "+", "-", "@"))


def _review(path: Path) -> ReviewFile:
    return ReviewFile(path, shown=("text",), filled=("decision", "note"), choices={"decision": ("yes", "no")})


def test_what_people_filled_in_is_never_lost(tmp_path: Path) -> None:
    review = _review(tmp_path / "reviews" / "file.csv")
    review.write([{"key": "1", "text": "=one"}, {"key": "2", "text": "two"}])
    assert review.read() == {}
    assert "'=one" in review.path.read_text("utf-8")
    untouched = review.digest()
    assert fill_in(review, {"key": "1"}, {"decision": "yes", "note": "-see there"}) == 1
    assert review.digest() != untouched
    decided = review.digest()
    review.write([{"key": "3", "text": "three"}, {"key": "2", "text": "two"}])
    assert review.read()["1"] == {"key": "1", "text": "=one", "decision": "yes", "note": "-see there"}
    assert [row.cells["key"] for row in read_csv(review.path).rows] == ["3", "2", "1"]
    review.write([{"key": "1", "text": "=one"}])
    assert [row.cells["key"] for row in read_csv(review.path).rows] == ["1"], "rows nobody filled in go"
    assert review.digest() == decided, "what the stage writes beside it does not count"


def test_bad_words_and_double_keys_are_told_together(tmp_path: Path) -> None:
    review = _review(tmp_path / "file.csv")
    review.path.write_text("key,text,decision,note\n1,a,maybe,\n1,b,yes,\n", encoding="utf-8")
    with pytest.raises(SetFileError) as error:
        review.read()
    assert "file.csv:2: decision 'maybe'; expected yes, no, or nothing (and 1 more)" in str(error.value)
    assert "file.csv:3: key '1' comes twice" in str(error.value)
    review.path.write_text("key,text,note\n", encoding="utf-8")
    with pytest.raises(SetFileError, match="no column 'decision'"):
        review.read()


def test_a_file_that_a_spreadsheet_wrote_is_read_as_it_was_meant(tmp_path: Path) -> None:
    review = _review(tmp_path / "review.csv")
    rows = ["key;text;decision;note", 'a;"one; two";yes;"with\r\na break"', "b;t;;", ";;;", ";;;"]
    review.path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(rows).encode() + b"\r\n")
    assert review.read() == {"a": {"key": "a", "text": "one; two", "decision": "yes", "note": "with\r\na break"}}


def test_a_row_or_column_that_is_not_the_files_own_is_refused_before_it_is_lost(tmp_path: Path) -> None:
    review = _review(tmp_path / "review.csv")
    review.path.write_text("key,text,decision,note\n,t,yes,\n", encoding="utf-8")
    with pytest.raises(SetFileError, match=r"review\.csv:2: key is blank; expected the one that the row came with"):
        review.read()
    review.path.write_text("key,text,decision,note,mine\na,t,yes,,x\n", encoding="utf-8")
    with pytest.raises(SetFileError, match=r"review\.csv: column 'mine' is none of the file's"):
        review.read()


def test_rows_filled_in_that_are_about_nothing_are_told(tmp_path: Path) -> None:
    _lexical(tmp_path)
    assert fill_in(lexical_review(tmp_path), {}, {"decision": "drop_first"}) == 1
    assert len(_lexical(tmp_path).kept) == 2
    result = _lexical(tmp_path, ALIKE[1:])
    assert result.notes[1:] == (
        "1 rows filled in in lexical_pairs.csv are about nothing that is proposed here: without effect",
    )


ALIKE = [
    make_question("a", "What day, month, and year was the town of Ullenby founded?"),
    make_question("b", "What day, month, and year was the town of Sandrey founded?"),
    make_question("c", "Who painted the blue door?"),
]


def _lexical(folder: Path, questions=ALIKE, responses=NO_RESPONSES, undecided="keep", threshold=0.4, most=100):
    review = lexical_review(folder)
    return drop_lexical_duplicates(
        questions, responses, review, threshold=threshold, most_pairs=most, undecided=undecided, seed=0
    )


def test_near_pairs_go_to_people_and_stay_until_they_decide(tmp_path: Path) -> None:
    result = _lexical(tmp_path)
    assert ids(result.kept) == ["a", "b", "c"]
    assert result.notes == ("1 pairs for review in lexical_pairs.csv, 1 not decided yet: kept",)
    row = read_csv(lexical_review(tmp_path).path).rows[0].cells
    assert {row["first_id"], row["second_id"]} == {"a", "b"}
    fill_in(lexical_review(tmp_path), {"first_id": row["first_id"]}, {"decision": "drop_first"})
    result = _lexical(tmp_path)
    assert [drop.question_id for drop in result.drops] == [row["first_id"]]
    assert result.drops[0].detail.endswith("judged")
    assert result.notes[0].endswith("0 not decided yet: kept")


TRIPLE = [*ALIKE[:2], make_question("c", "What day, month, and year was the town of Brelin founded?")]


def _decide(folder: Path, losers: dict[str, str]) -> None:
    """Decide on each pair of the three: ``losers`` has the two ids together and which one goes."""
    for row in read_csv(lexical_review(folder).path).rows:
        first, second = row.cells["first_id"], row.cells["second_id"]
        loser = losers["".join(sorted(first + second))]
        decision = "drop_first" if loser == first else "drop_second"
        fill_in(lexical_review(folder), {"first_id": first, "second_id": second}, {"decision": decision})


@pytest.mark.parametrize(
    ("losers", "circle"),
    [
        ({"ab": "a", "bc": "b", "ac": "c"}, {"a for b", "b for c", "c for a"}),
        ({"ab": "b", "bc": "c", "ac": "a"}, {"b for a", "a for c", "c for b"}),
    ],
)
def test_decisions_in_a_circle_would_leave_none_and_are_refused(
    tmp_path: Path, losers: dict[str, str], circle: set[str]
) -> None:
    _lexical(tmp_path, TRIPLE)
    _decide(tmp_path, losers)
    with pytest.raises(SetFileError, match=r"^lexical_pairs.csv: decisions in a circle, .*; expected one of") as error:
        _lexical(tmp_path, TRIPLE)
    named = str(error.value).partition("circle, ")[2].partition(";")[0].split(" for ")
    assert {f"{one} for {other}" for one, other in pairwise(named)} == circle


@pytest.mark.parametrize("last", "abc")
def test_a_question_may_give_way_to_one_that_gives_way(tmp_path: Path, last: str) -> None:
    _lexical(tmp_path, TRIPLE)
    first, second = sorted(set("abc") - {last})
    _decide(
        tmp_path, {first + second: first, "".join(sorted(first + last)): first, "".join(sorted(second + last)): second}
    )
    assert ids(_lexical(tmp_path, TRIPLE).kept) == [last]


def test_a_decision_holds_for_other_ids_and_orders_but_not_for_other_words(tmp_path: Path) -> None:
    _lexical(tmp_path)
    fill_in(lexical_review(tmp_path), {}, {"decision": "keep_both"})
    renamed = [make_question(f"x{one.question_id}", one.question) for one in reversed(ALIKE)]
    assert _lexical(tmp_path, renamed, undecided="drop").drops == ()
    reworded = [make_question("a", ALIKE[0].question.replace("town", "village")), *ALIKE[1:]]
    assert len(_lexical(tmp_path, reworded, undecided="drop").drops) == 1


def test_undecided_pairs_can_be_dropped_by_preference(tmp_path: Path) -> None:
    result = _lexical(tmp_path, responses=make_responses({"a": "C", "b": "I"}), undecided="drop")
    assert [drop.question_id for drop in result.drops] == ["a"]
    assert result.drops[0].detail.startswith("b, cosine 0.")
    assert result.drops[0].detail.endswith("not judged")


def test_more_pairs_than_people_could_judge_are_refused_before_they_are_held(tmp_path: Path) -> None:
    colours = ("red", "green", "blue", "grey", "black")
    doors = [make_question(f"q{place}", f"Who painted the {colour} door?") for place, colour in enumerate(colours)]
    assert "10 pairs for review" in _lexical(tmp_path, doors, most=10).notes[0]
    with pytest.raises(
        SetFileError, match=r"over 9 pairs of 5 questions have a cosine over 0\.4, more than people could"
    ):
        _lexical(tmp_path, doors, most=9)


@pytest.mark.parametrize("questions", [[], [make_question("a", "?"), make_question("b", "!")]])
def test_no_words_no_pairs(tmp_path: Path, questions) -> None:
    assert len(_lexical(tmp_path, questions).kept) == len(questions)


PEOPLE = [make_question("p", answer="Mary Brelin", answer_type="Person", urls=(SITE, OTHER))]


def _sources(folder: Path, answers: dict[tuple[str, str], str] | None = None, questions=PEOPLE):
    found = SourceAnswers({(name, url_key(url)): answer for (name, url), answer in (answers or {}).items()})
    return settle_source_conflicts(questions, found, conflict_review(folder), numeric_types=["Number"])


def test_sources_in_the_references_words_agree_and_others_are_a_persons_to_judge(tmp_path: Path) -> None:
    result = _sources(tmp_path, {("p", SITE): "mary  BRELIN.", ("p", OTHER): "Marie Brelin"})
    assert ids(result.kept) == ["p"]
    rows = {row.cells["url"]: row.cells["compared"] for row in read_csv(conflict_review(tmp_path).path).rows}
    assert rows == {SITE: "agrees", OTHER: "undecided"}
    assert result.notes == (
        "1 sources of 1 questions in sources.csv not decided yet, 0 of them without an answer: kept",
    )


def test_people_drop_the_ambiguous_and_correct_the_wrong(tmp_path: Path) -> None:
    review = conflict_review(tmp_path)
    _sources(tmp_path)
    fill_in(review, {"url": OTHER}, {"decision": "corrected", "corrected_answer": "Marie Brelin"})
    result = _sources(tmp_path)
    assert result.kept[0].reference.answer == "Marie Brelin"
    assert [(one.before, one.after, one.why) for one in result.changes] == [("Mary Brelin", "Marie Brelin", OTHER)]
    fill_in(review, {"url": SITE}, {"decision": "ambiguous"})
    result = _sources(tmp_path)
    assert (result.kept, result.changes) == ((), ())
    assert result.drops[0].reason == "ambiguous by its sources"


def test_corrections_need_a_text_and_agree(tmp_path: Path) -> None:
    _sources(tmp_path)
    fill_in(conflict_review(tmp_path), {"url": SITE}, {"decision": "corrected"})
    with pytest.raises(SetFileError, match=r"sources.csv: p: corrected_answer is blank"):
        _sources(tmp_path)
    fill_in(conflict_review(tmp_path), {"url": SITE}, {"corrected_answer": "Marie"})
    fill_in(conflict_review(tmp_path), {"url": OTHER}, {"decision": "corrected", "corrected_answer": "Maria"})
    with pytest.raises(SetFileError, match=r"sources.csv: p: corrected to 'Marie' and 'Maria'; expected one"):
        _sources(tmp_path)


def test_answers_of_sources_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(f"question_id,url,answer\np,{SITE}/,Mary Brelin\np,{OTHER},\n", encoding="utf-8")
    assert read_source_answers(path).find(PEOPLE[0], SITE) == "Mary Brelin"
    assert read_source_answers(path).find(PEOPLE[0], OTHER) == ""
    path.write_text(f"question_id,url,answer\np,{SITE},Mary\np,{SITE},Marie\n", encoding="utf-8")
    with pytest.raises(SetFileError, match=r"answers.csv:3: a second answer"):
        read_source_answers(path)


@pytest.mark.parametrize(
    ("reference", "source", "distance"),
    [
        ("100", "105", "0.05"),
        ("100 km", "105,000 m", "0.05"),
        ("8,282", "8282 people", "0"),
        ("120,000 euros", "114,000", "0.05"),
        ("-40", "-42", "0.05"),
        ("0", "3", "1"),
        ("0", "0", "0"),
        ("12 km", "12 kg", None),
        ("12 km", "about as long as a river", None),
        ("12", "between 11 and 14", None),
        ("41:18", "41:20", None),
    ],
)
def test_distance_of_a_source(reference: str, source: str, distance: str | None) -> None:
    found = relative_distance(reference, source)
    assert found is None if distance is None else found == pytest.approx(float(distance), abs=0)


NUMBERS = [make_question("n", answer="100", answer_type="Number", urls=(SITE,))]


def _numeric(folder: Path, answer: str, tolerance: float = 0.05):
    answers = SourceAnswers({("n", url_key(SITE)): answer})
    return drop_numeric_conflicts(
        NUMBERS, answers, numeric_review(folder), tolerance=tolerance, numeric_types=["Number"]
    )


@pytest.mark.parametrize(
    ("answer", "stays"), [("105", True), ("95", True), ("105.01", False), ("94", False), ("a few", True)]
)
def test_further_than_five_percent_is_dropped_and_exactly_five_is_not(tmp_path: Path, answer: str, stays: bool) -> None:
    result = _numeric(tmp_path, answer)
    assert bool(result.kept) is stays
    if not stays:
        assert result.drops[0].reason == "a source is too far away"
        assert result.drops[0].detail == f"{answer} against 100, {SITE}"


def test_people_overrule_the_comparison_of_numbers(tmp_path: Path) -> None:
    assert _numeric(tmp_path, "200").kept == ()
    fill_in(numeric_review(tmp_path), {}, {"decision": "agrees", "note": "counts both halves"})
    assert ids(_numeric(tmp_path, "200").kept) == ["n"]
    fill_in(numeric_review(tmp_path), {}, {"decision": "corrected", "corrected_answer": "200"})
    assert _numeric(tmp_path, "200").kept[0].reference.answer == "200"


def test_words_are_not_compared_as_numbers_nor_numbers_as_words(tmp_path: Path) -> None:
    both = [*PEOPLE, *NUMBERS]
    settle_source_conflicts(both, SourceAnswers(), conflict_review(tmp_path), numeric_types=["Number"])
    drop_numeric_conflicts(both, SourceAnswers(), numeric_review(tmp_path), tolerance=0.05, numeric_types=["Number"])
    assert {row.cells["question_id"] for row in read_csv(conflict_review(tmp_path).path).rows} == {"p"}
    assert {row.cells["question_id"] for row in read_csv(numeric_review(tmp_path).path).rows} == {"n"}


@pytest.mark.parametrize(
    ("question", "answer", "number_class", "low", "high"),
    [
        ("How many children did she have?", "4", "exact", None, None),
        ("How many days did it take?", "0", "exact", None, None),
        ("How many livres were paid?", "£20", "exact", None, None),
        ("At what age did she die?", "64", "exact", None, None),
        ("In what year was it built?", "1865", "identifier", None, None),
        ("What is the catalogue number of the disc?", "8817", "identifier", None, None),
        ("In which episode does the ship sink?", "112", "identifier", None, None),
        ("What is the number of the executive order?", "7034", "identifier", None, None),
        ("Where did she finish?", "53rd", "identifier", None, None),
        ("How many pages are in the volume?", "150", "medium", "148", "152"),
        ("What is the number of visitors?", "1376", "medium", "1362", "1390"),
        ("How high is it?", "17.2 meters", "medium", "17.02", "17.38"),
        ("How hot is it?", "10 °F", "medium", "9", "11"),
        ("How wide is the lake?", "1 km", "medium", "0.99", "1.01"),
        ("How cold is it?", "-40 °C", "medium", "-41", "-39"),
        ("How many people came?", "9,999", "medium", "9899", "10099"),
        ("How many people came?", "10,000", "large", "9500", "10500"),
        ("How many people came?", "359,083", "large", "341128", "377038"),
    ],
)
def test_ranges_by_class(question: str, answer: str, number_class: str, low: str | None, high: str | None) -> None:
    quantity = read_single_number(answer)
    assert quantity is not None
    assert classify_number(question, quantity, RangeSettings()) == number_class
    found = propose_range(quantity, number_class, RangeSettings())
    assert (found and f"{found.low:f}", found and f"{found.high:f}") == (low, high)


@given(st.decimals(min_value="0.01", max_value="100000000", places=2))
def test_a_range_holds_its_number_in_the_middle_and_is_hardly_wider_than_its_share(value) -> None:
    quantity = read_single_number(f"{value:f} km")
    if quantity is None:
        return
    number_class = classify_number("How long is it?", quantity, RangeSettings())
    found = propose_range(quantity, number_class, RangeSettings())
    assert found is not None
    share = 0.05 if number_class == "large" else 0.01
    assert found.high - quantity.value == quantity.value - found.low
    assert float(value) * share * (1 - 1e-9) <= found.high - quantity.value < float(value) * share + 1


RANGED = [
    make_question("plain", "How many people came?", "1376", answer_type="Number"),
    make_question("carries", "How many?", "120 (acceptable range: anything between 118 and 122)", answer_type="Number"),
    make_question("two", "What are its dimensions?", "27 x 40 inches", answer_type="Number"),
    make_question("word", "How much was paid?", "1.65 million USD", answer_type="Number"),
    make_question("person", "Who?", "1376", answer_type="Person"),
]


def _ranges(folder: Path):
    return apply_confirmed_ranges(RANGED, range_review(folder), RangeSettings(), numeric_types=["Number"])


def test_proposals_change_nothing_until_a_person_confirms(tmp_path: Path) -> None:
    result = _ranges(tmp_path)
    assert result.kept == tuple(RANGED)
    assert [row.cells["question_id"] for row in read_csv(range_review(tmp_path).path).rows] == ["plain", "two", "word"]
    assert result.notes[0].startswith("2 ranges proposed in ranges.csv, 2 not decided yet; numbers by class: large 1,")
    fill_in(range_review(tmp_path), {"question_id": "plain"}, {"decision": "confirm"})
    fill_in(range_review(tmp_path), {"question_id": "word"}, {"decision": "reject"})
    own = "27 x 40 inches (acceptable range: [26-28] x [39-41] inches)"
    fill_in(range_review(tmp_path), {"question_id": "two"}, {"decision": "own", "own_reference": own})
    result = _ranges(tmp_path)
    assert result.kept[0].reference.text == "1376 (acceptable range: anything between 1362 and 1390)"
    assert result.kept[2].reference.text == own
    assert result.kept[3] == RANGED[3]
    assert [(one.question_id, one.why) for one in result.changes] == [("plain", "confirmed"), ("two", "own range")]
    assert ", 0 not decided yet" in result.notes[0]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"decision": "confirm"}, "two: nothing is proposed"),
        ({"decision": "own", "own_reference": "27 x 40"}, "two: own_reference '27 x 40'"),
    ],
)
def test_a_range_that_cannot_be_read_is_an_error(tmp_path: Path, cells: dict[str, str], told: str) -> None:
    _ranges(tmp_path)
    fill_in(range_review(tmp_path), {"question_id": "two"}, cells)
    with pytest.raises(SetFileError, match=f"ranges.csv: {told}; expected one such as"):
        _ranges(tmp_path)


def test_every_proposal_reads_back_as_what_was_proposed() -> None:
    for proposal in propose_ranges(RANGED, RangeSettings(), numeric_types=["Number"]):
        if proposal.proposed:
            question = make_question("again", answer=proposal.reference)
            assert question.reference.ranges[0].low == proposal.proposed.low
            assert question.reference.ranges[0].high == proposal.proposed.high


@pytest.mark.parametrize(
    ("text", "answer", "number_class"),
    [
        ("When did the mill of Sandrey open?", "1950", "identifier"),
        ("When was the third goal?", "89 minutes", "medium"),
        ("Year of the flood?", "1950", "identifier"),
        ("What is the postcode of Sandrey?", "90210", "identifier"),
        ("What are the last digits of the plate?", "4321", "identifier"),
        ("What is the mass of the star?", "1.989e30 kg", "large"),
        ("How many grains are there?", "9" * 60, "large"),
    ],
)
def test_classes_of_years_names_and_vast_numbers(text: str, answer: str, number_class: str) -> None:
    question = make_question("q", text, answer, answer_type="Number")
    [proposal] = propose_ranges([question], RangeSettings(), numeric_types=["Number"])
    assert proposal.number_class == number_class or (answer.startswith("999") and proposal.number_class is None)
    assert (proposal.proposed is None) or number_class != "identifier"


def test_another_number_of_the_same_kind_of_name_is_for_people(tmp_path: Path) -> None:
    url = "https://site.example/a"
    question = make_question("q", "Which episode was it?", "101", answer_type="Number", urls=(url,))
    for answer, open_ones in (("101", 0), ("104", 1)):
        sources = SourceAnswers({("q", url_key(url)): answer})
        review = numeric_review(tmp_path / answer)
        result = drop_numeric_conflicts([question], sources, review, tolerance=0.05, numeric_types=["Number"])
        assert len(result.kept) == 1
        assert len(result.notes) == open_ones
