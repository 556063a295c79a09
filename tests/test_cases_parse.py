"""Ways in which graders' replies have been misread, each with variants of its kind."""

from __future__ import annotations

import json

import pytest

from calibration_sets import BINARY, SIMPLEQA, LabelScale
from graders.parsing import parse_verdict

C, I, N, P = "CORRECT", "INCORRECT", "NOT_ATTEMPTED", "PARTIAL"  # noqa: E741
NONE = "no label"

CIP = LabelScale("cip", (I, P, C), letters={C: "C", I: "I", P: "P"}, positive=C)
AB = LabelScale("ab", (I, C), letters={C: "A", I: "B"}, positive=C)
PASS = LabelScale("pass", ("FAIL", "PASS"), positive="PASS")
YES = LabelScale("yes", ("NO", "YES"), letters={"YES": "Y", "NO": "N"}, positive="YES")
MARKS = LabelScale("marks", ("1", "2", "3", "4", "5"), level="ordinal", positive="5")


def in_words(name: str, right: tuple[str, ...], wrong: tuple[str, ...], declined: tuple[str, ...]) -> LabelScale:
    return LabelScale(name, SIMPLEQA.labels, letters=SIMPLEQA.letters, words={C: right, I: wrong, N: declined})


ZH = in_words("zh", ("正确",), ("错误",), ("未尝试",))
JA = in_words("ja", ("正解",), ("不正解",), ("未回答",))
KO = in_words("ko", ("정답",), ("오답",), ("미응답",))
DE = in_words("de", ("richtig", "korrekt"), ("falsch", "inkorrekt"), ("nicht versucht",))
RU = in_words("ru", ("верно", "правильно"), ("неверно", "неправильно"), ("нет ответа",))
FR = in_words("fr", ("juste",), ("faux",), ("non tenté",))


def read(text: str | None, scale: LabelScale = SIMPLEQA, stop_reason: str | None = None) -> str:
    """The label, or the reason why there is none."""
    verdict = parse_verdict(text, scale, stop_reason=stop_reason)
    return verdict.label or str(verdict.failure)


def check(text: str | None, expected: str, scale: LabelScale = SIMPLEQA, stop_reason: str | None = None) -> None:
    verdict = parse_verdict(text, scale, stop_reason=stop_reason)
    if expected == NONE:
        assert verdict.label is None, verdict
        assert verdict.failure
    else:
        assert (verdict.label or verdict.failure) == expected, verdict


@pytest.mark.parametrize(
    "text",
    ["NOT ATTEMPTED", "NOT_ATTEMPTED", "NOT-ATTEMPTED", "NotAttempted", "not attempted.", "NOT_ATTEMPTED (C)",
     "C: NOT_ATTEMPTED", "C (Not attempted)", "C) NOT ATTEMPTED", "[C] NOT_ATTEMPTED", "ＮＯＴ＿ＡＴＴＥＭＰＴＥＤ",
     "NOT\u00a0ATTEMPTED", "NOT\u2011ATTEMPTED", "“NOT_ATTEMPTED”", "The answer was not attempted",
     "NOT_ATTEMPTED, since the response names nobody."],
)  # fmt: skip
def test_an_abstention_in_words_is_not_its_letter_a(text: str) -> None:
    check(text, N)


@pytest.mark.parametrize(
    ("text", "label"),
    [("CORRECT", C), ("INCORRECT", I), ("Correct", C), ("incorrect.", I), ("correct", C), ("INCORRECT!", I),
     ("<result>incorrect</result>", I), ("<classification>INCORRECT</classification>", I), ("<final>B</final>", I),
     ("<evaluation>CORRECT</evaluation>", C), ("Grade: incorrect", I), ("ＩＮＣＯＲＲＥＣＴ", I)],
)  # fmt: skip
def test_a_word_is_read_whole_and_in_any_case(text: str, label: str) -> None:
    check(text, label)


@pytest.mark.parametrize("text", ["This is a B.", "It is a B", "It deserves a B.", "A wrong year, hence a B."])
def test_the_article_is_no_grade(text: str) -> None:
    assert read(text) in {I, "unparsed"}


@pytest.mark.parametrize(
    "text",
    ["the response is wrong", "A quick look shows nothing.", "A few remarks follow", "Based on the question",
     "Candidate answer unclear", "As the judge, I", "CORRECTED", "incorrectly", "political correctness",
     "Error: incorrect API key provided", "B is the second letter", "Grade: pending", "Grade: N/A", "Verdict: unclear",
     "The grade cannot be A.", "It's not A.", "Neither A nor B.", "Maybe A", "The grade could be B",
     "If the year is right, then CORRECT.", "partially correct", "half correct", "A+", "B-", "Option A",
     "Grade A of this study", "The correct answer is B", "Hepatitis B", "in C major", "Blood type A",
     "The student chose A; the key is B.", "The candidate picked B.", "The model selected A.",
     "The response gives A."],
)  # fmt: skip
def test_letters_and_words_that_are_no_verdict(text: str) -> None:
    check(text, NONE)


@pytest.mark.parametrize(
    ("text", "label"),
    [("GRADE: C\nNothing here justifies a downgrade: it is fully right.", C),
     ("GRADE: P\nNo upgrade: it lacks a year", P),
     ("grade: i\nRetrograde: changed", I), ("GRADE: **C**", C), ("**GRADE:** C", C), ("GRADE: CI", NONE),
     ("CP", NONE)],
)  # fmt: skip
def test_the_marker_is_a_whole_word_and_its_letter_stands_alone(text: str, label: str) -> None:
    check(text, label, CIP)


@pytest.mark.parametrize(
    "text",
    ["A/B", "AB", "A, C", "A or B", "A|B|C", "CORRECT/INCORRECT", "Grade: A & C", "A->B", "A vs B", "[A] [B]",
     "(A) CORRECT (B) INCORRECT (C) NOT_ATTEMPTED", "A) CORRECT B) INCORRECT",
     "A: CORRECT B: INCORRECT C: NOT_ATTEMPTED",
     "A = CORRECT; B = INCORRECT; C = NOT_ATTEMPTED", "I'd say A or B", "[RESULT] A or B", "Grade (A/B/C):"],
)  # fmt: skip
def test_several_labels_are_none(text: str) -> None:
    check(text, NONE)


@pytest.mark.parametrize(
    "text",
    ["**B**", "`B`", "_B_", "### Verdict: B", "**Grade: B**", "***INCORRECT***", "<b>INCORRECT</b>", "\\boxed{B}",
     "$B$",
     "$\\boxed{\\text{B}}$", "&quot;B&quot;", "&lt;grade&gt;B&lt;/grade&gt;", "B ✅", "INCORRECT ✓",
     "'''B'''"],
)  # fmt: skip
def test_decoration_does_not_hide_a_verdict(text: str) -> None:
    check(text, I)


def test_a_letter_struck_out_beside_another_is_no_verdict() -> None:
    check("~~A~~ B", NONE)


@pytest.mark.parametrize(
    ("text", "label"),
    [("The year isn't right hence B", I), ("It names nobody and doesn't contradict the target → C", N),
     ("It is not therefore CORRECT", NONE), ("It isn't → A", NONE), ("If it were right, hence A", NONE)],
)  # fmt: skip
def test_a_reason_may_negate_and_a_conclusion_may_be_negated(text: str, label: str) -> None:
    check(text, label)


def test_a_cross_beside_a_right_label_is_no_verdict() -> None:
    check("CORRECT ❌", NONE)
    check("A 👎", NONE)


@pytest.mark.parametrize(
    "text",
    ["As a judge I weighed both sides carefully. The final grade is B.", "A short look. So the verdict: INCORRECT",
     "Feedback: other year. [RESULT] B", "[VERDICT]: B", "[Grade] INCORRECT", "I'd go with B.",
     "I would say INCORRECT.",
     "(B) The year is wrong.", "B) The year is wrong.", "[B] It names another person", "B because the year is wrong",
     "Final Grade (A/B/C): B", "Grade (CORRECT or INCORRECT): INCORRECT", "Correct year, wrong month. Therefore B."],
)  # fmt: skip
def test_the_anchored_verdict_counts_and_not_the_first_letter(text: str) -> None:
    check(text, I, AB)
    check(text, I)


@pytest.mark.parametrize(
    ("text", "scale", "label"),
    [("【错误】", ZH, I), ("【正确】", ZH, C), ("未尝试", ZH, N), ("〖错误〗", ZH, I), ("判定：错误", ZH, I),
     ("我认为是【未尝试】", ZH, N), ("该回答应判定为【错误】。", ZH, I), ("不能判定为【正确】", ZH, NONE),
     ("不正确", ZH, NONE),
     ("正确/错误", ZH, NONE), ("오답", ZH, NONE), ("오답", KO, I), ("정답", KO, C), ("不正解", JA, I),
     ("正解。", JA, C),
     ("部分正解", JA, NONE), ("Falsch!", DE, I), ("Nicht versucht.", DE, N), ("Urteil: richtig", DE, C),
     ("teilweise richtig", DE, NONE), ("неверно", RU, I), ("Вердикт: верно", RU, C), ("не верно", RU, NONE),
     ("Non tente\u0301", FR, N), ("injuste", FR, NONE), ("Faux.", FR, I), ("richtig", SIMPLEQA, NONE),
     ("正解", ZH, NONE)],
)  # fmt: skip
def test_label_words_of_other_languages_are_read_where_the_scale_has_them(
    text: str, scale: LabelScale, label: str
) -> None:
    check(text, label, scale)


@pytest.mark.parametrize(
    ("text", "scale", "label"),
    [("PASS", PASS, "PASS"), ("Verdict: fail", PASS, "FAIL"), ("The response is a PASS", PASS, "PASS"),
     ("passport", PASS, NONE), ("PASS/FAIL", PASS, NONE), ("FAILED TO PARSE", PASS, NONE),
     ("Yes, it matches.", YES, "YES"),
     ("No, another year.", YES, "NO"), ("Yes and no", YES, NONE), ("No idea", YES, NONE), ("NOT SURE", YES, NONE),
     ("none", YES, NONE), ("Score: 5", MARKS, "5"), ("[RESULT] 4", MARKS, "4"), ("4.5", MARKS, NONE),
     ("6", MARKS, NONE),
     ("3 or 4", MARKS, NONE), ("1925", MARKS, NONE), ("yes", BINARY, C), ("C", BINARY, NONE)],
)  # fmt: skip
def test_other_scales_are_read_by_the_same_rules(text: str, scale: LabelScale, label: str) -> None:
    check(text, label, scale)


@pytest.mark.parametrize(
    ("text", "stop_reason", "failure"),
    [("<think>It might be A, or B. Compare with option C", "length", "truncated"), ("<think>So B", "stop", "unparsed"),
     ("<thinking>the grade is A", "max_tokens", "truncated"), ("", "length", "truncated"),
     (None, "max_tokens", "truncated"),
     ("", "MAX_TOKENS", "truncated"), ("", "SAFETY", "refused"), (None, "content_filter", "refused"),
     (None, "stop", "empty"),
     ("", None, "empty"), (" \n", "end_turn", "empty"), ("\u200b", "stop", "empty"),
     ("<think>B</think>", "stop", "empty"),
     ("The grade is NOT", "length", "truncated"), ("INCOR", "length", "truncated"),
     ('{"grade": "A', "length", "truncated")],
)  # fmt: skip
def test_a_reply_that_ended_too_early_says_why(text: str | None, stop_reason: str | None, failure: str) -> None:
    check(text, failure, stop_reason=stop_reason)


@pytest.mark.parametrize(
    ("text", "label"),
    [('```json\n{"grade": "A", "why": "same town"}\n```', C), ("```json\n\"B\"\n```", I), ('{"grade": "B",}', I),
     ("Sure, here is my evaluation: {'grade': 'B', 'why': \"it's a different year\"}", I), ('{grade: "B"}', I),
     ('{"grade": B}', I), ('{"verdict": NOT_ATTEMPTED, "why": "none"}', N), ('{"grade": "B"\n', I),
     ('[{"grade": "B"}]', I),
     ('{"name": "submit", "arguments": {"grade": "B"}}', I), ('{"reasoning": "first I thought A", "grade": "B"}', I),
     (json.dumps({"name": "submit", "arguments": json.dumps({"grade": "B"})}), I),
     ('{"grade": "A or B"}', NONE), ('{"grade": "A or B"', NONE), ('{"grade": "A', NONE), ('{"grade": null}', NONE),
     ('{"grade": true}', NONE), ('{"question": "A"}', NONE), ('{"reason": "CORRECT"}', NONE), ('{"error": "A"}', NONE),
     (json.dumps({"name": "submit", "arguments": json.dumps({"question": "A"})}), NONE)],
)  # fmt: skip
def test_objects_in_fences_prose_and_other_notations(text: str, label: str) -> None:
    check(text, label)


@pytest.mark.parametrize(
    "text",
    ["As an AI model I cannot grade this.", "I can't fulfill this request.", "Sorry, but I am unable to help.",
     "I cannot help with that.", "I’m not able to evaluate this.", "I must decline to grade this response.",
     "I do not feel comfortable grading this.", "Unfortunately I can't do that.",
     "This request violates our policies."],
)  # fmt: skip
def test_a_grader_that_refuses_is_not_a_candidate_that_abstains(text: str) -> None:
    check(text, "refused")


@pytest.mark.parametrize(
    "text",
    ["%%%", "I am not sure what to do", "<error: resource not found>", "You have reached your session limit",
     "Error 429: rate limit exceeded", "503 Service Unavailable", "[object Object]", "undefined", "null", "🤷", "..."],
)  # fmt: skip
def test_messages_of_services_and_noise_are_no_verdict(text: str) -> None:
    check(text, NONE)


def test_two_of_five_replies_without_a_verdict_are_counted_as_two() -> None:
    replies = [parse_verdict(text, SIMPLEQA) for text in ("A", "A", "B", "%%%", "I am not sure what to do")]
    assert [reply.label for reply in replies] == [C, C, I, None, None]


def test_a_letter_that_is_not_on_the_menu_is_never_mapped() -> None:
    check("The single letter answer, from popular culture, is:\n\nB", NONE, CIP)
    check("The option is T", NONE)
    check("D", "off_scale")


@pytest.mark.parametrize(
    ("spelling", "label"),
    [("Correct", C), ("A: CORRECT", C), ("INCORRECT.", I), ("NOT ATTEMPTED", N), ("b", I), ("not-attempted", N),
     ("a.", C)],
)  # fmt: skip
def test_other_spellings_in_a_structured_field(spelling: str, label: str) -> None:
    check(spelling, label)
    check(json.dumps({"grade": spelling}), label)


@pytest.mark.parametrize(
    ("text", "label"),
    [("All right: CORRECT", C), ("All right. B", I), ("Sure! B", I), ("Okay, B.", I), ("OK: not attempted", N),
     ("Choice: B", I), ("Option: C", N), ("Letter: A", C), ("The letter is A", C), ("The appropriate letter is B.", I),
     ("Choice: A\nGrade: B", I), ("Option: A, B or C", NONE), ("The missing letter is A", NONE),
     ("The student's choice: B", NONE), ("The letter is not A", NONE), ("Sure, A response that", NONE),
     ("I find the answer to be INCORRECT.", I), ("I find it hard to call this CORRECT", NONE), ("I find A", NONE),
     ("B\n\nEdit: A", NONE), ('"CORRECT" means that all of it is there. Grade: B', I),
     ('"Paris" is right, and the response says "Grade: A"', NONE)],
)  # fmt: skip
def test_casual_ways_of_giving_a_verdict(text: str, label: str) -> None:
    check(text, label)


@pytest.mark.parametrize(
    ("text", "label"),
    [("The target is 1925, the answer 1926, a wrong year. B", I), ("Both say Paris. A", C), ("It declines! (C)", N),
     ("Off by 5. B.", I), ("The correct name but an incorrect date. B", I), ("The reply declines to answer. C", N),
     ("The response is correct. B", NONE), ("The response is incorrect. A", NONE), ("Grade: B. Great. A", NONE),
     ("It says vitamin D. C", NONE), ("Compare with vs. B", NONE), ("It is option. C", NONE), ("A wrong year. a", NONE),
     ("A wrong year. A lot", NONE), ("As an AI, I can't grade this. A", NONE)],
)  # fmt: skip
def test_a_letter_that_is_the_last_sentence(text: str, label: str) -> None:
    check(text, label)


def test_a_letter_after_the_last_full_stop_may_be_the_start_of_a_sentence_cut_off() -> None:
    check("It gives a wrong year. A", "truncated", stop_reason="length")


@pytest.mark.parametrize(
    ("text", "label"),
    [("CORRECT: no\nINCORRECT: yes\nNOT ATTEMPTED: no", NONE), ("CORRECT: 0\nINCORRECT: 1\nNOT_ATTEMPTED: 0", NONE),
     ("CORRECT - no\nINCORRECT - yes", NONE), ("CORRECT (5%)\nINCORRECT (95%)", NONE), ("CORRECT (100%)", C),
     ("Correct (yes/no): no", NONE), ("Correct [Y/N]: N", NONE), ("CORRECT: No, the year differs.", NONE),
     ("CORRECT:\nINCORRECT: x", NONE), ("CORRECT: -\nINCORRECT: X", NONE), ("INCORRECT: no mention of Paris.", I),
     ("INCORRECT (B): another year", I), ("CORRECT: [ ]\nINCORRECT: [x]", I), ("[ ] CORRECT\n[x] INCORRECT", I),
     ("- [ ] A\n- [x] B", I), ("( ) CORRECT\n(x) INCORRECT\n( ) NOT_ATTEMPTED", I), ("CORRECT ☐\nINCORRECT ☑", I),
     ("[x] CORRECT\n[x] INCORRECT", NONE), ("[ ] CORRECT\n[ ] INCORRECT", NONE), ("[ ] CORRECT", NONE)],
)  # fmt: skip
def test_a_filled_in_form_is_no_verdict_for_its_first_entry(text: str, label: str) -> None:
    check(text, label)


@pytest.mark.parametrize(
    ("text", "label"),
    [("INCORRECT ❌", I), ("Incorrect ✗", I), ("Grade: INCORRECT ❌", I), ("❌ B", I), ("CORRECT ❌", NONE),
     ("Grade: A ❌", NONE), ("CORRECT ❌\nINCORRECT ✅", I), ("❌", "unparsed")],
)  # fmt: skip
@pytest.mark.parametrize("scale", [SIMPLEQA, LabelScale("bare", SIMPLEQA.labels, letters=SIMPLEQA.letters)])
def test_a_cross_beside_a_label(text: str, label: str, scale: LabelScale) -> None:
    check(text, label, scale)


@pytest.mark.parametrize("text", ['{"is_correct": true}', '{"correct": false}', "{'is_right': True}"])
def test_true_and_false_are_on_no_scale_of_labels(text: str) -> None:
    check(text, "off_scale")
    check(text, "off_scale", MARKS)


def test_a_flag_beside_a_verdict_must_not_contradict_it() -> None:
    check('{"is_correct": false, "grade": "CORRECT"}', "ambiguous")
    check('{"grade": "INCORRECT", "is_correct": true}', "ambiguous")
    check('{"grade": "NOT_ATTEMPTED", "is_correct": false}', N)
    check('{"is_correct": false, "grade": "B"}', I)
    check('{"is_correct": true}\nGrade: A', C)
