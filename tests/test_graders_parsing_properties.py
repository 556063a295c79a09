"""What holds for every reply: no exception, label xor failure, and decoration that changes nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration_sets.scale import BINARY, SIMPLEQA, LabelScale
from graders.parsing import parse_verdict
from graders.verdict import FAILURES, ParsedVerdict

ORDINAL = LabelScale("marks", ("1", "2", "3", "4", "5"), level="ordinal")
PHRASES = LabelScale("phrases", ("clearly wrong", "partly right", "fully right"), words={"fully right": ("完全正确",)})
SCALES = (SIMPLEQA, BINARY, ORDINAL, PHRASES)

PIECES = """
A B C D a b CORRECT INCORRECT NOT_ATTEMPTED NOT ATTEMPTED correct not no yes grade Grade: verdict final answer is the
response hence so I it as {"grade": } 'verdict': "A" 【 】 错误 ** ` _ # > - / , . : ; ? ! ( ) [ ] { <think> </think>
```json ``` \\boxed{ } | 4 4/5 <|channel|> final<|message|> 👍 ❌ \u200b Ａ А partially isn't cannot As an AI model
"""
PROSE = "the gold target names another year and city so it was said by historians in 1926 1927"
replies = st.lists(st.sampled_from([*PIECES.split(), "\n", "\n\n", "\t"]), max_size=14).map(" ".join) | st.lists(
    st.sampled_from([*PIECES.split(), "\n"]), max_size=10
).map("".join)
stop_reasons = st.sampled_from([None, "stop", "length", "max_tokens", "content_filter", "refusal", "tool_calls"])


def assert_is_verdict(verdict: ParsedVerdict, scale: LabelScale) -> None:
    assert (verdict.label is None) != (verdict.failure is None)
    assert verdict.label is None or verdict.label in scale
    assert verdict.failure is None or verdict.failure in FAILURES
    assert verdict.evidence


@settings(max_examples=300, deadline=None)
@given(text=st.text() | st.none(), scale=st.sampled_from(SCALES), stop_reason=stop_reasons)
def test_any_text_is_a_label_or_a_failure(text: str | None, scale: LabelScale, stop_reason: str | None) -> None:
    assert_is_verdict(parse_verdict(text, scale, stop_reason=stop_reason), scale)
    assert_is_verdict(parse_verdict(text, scale, rule="label"), scale)


@settings(max_examples=500, deadline=None)
@given(text=replies, scale=st.sampled_from(SCALES), stop_reason=stop_reasons)
def test_any_mixture_of_verdict_like_pieces_is_a_label_or_a_failure(
    text: str, scale: LabelScale, stop_reason: str | None
) -> None:
    verdict = parse_verdict(text, scale, stop_reason=stop_reason)
    assert_is_verdict(verdict, scale)
    assert verdict == parse_verdict(text, scale, stop_reason=stop_reason)


@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet=st.characters(codec="utf-16", exclude_categories=())))
def test_lone_surrogates_and_unassigned_characters_are_read(text: str) -> None:
    assert_is_verdict(parse_verdict(text, SIMPLEQA), SIMPLEQA)


@settings(max_examples=200, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(PROSE.split()),
        min_size=1,
        max_size=40,
    )
)
def test_prose_without_a_label_is_a_failure(words: list[str]) -> None:
    text = " ".join(words)
    assert parse_verdict(text, SIMPLEQA).failure is not None
    assert parse_verdict(text + ".", BINARY).failure is not None


@settings(max_examples=400, deadline=None)
@given(text=replies, margin=st.text(alphabet=" \n\t\r\u00a0\u200b\u3000", max_size=6))
def test_outer_white_space_changes_nothing(text: str, margin: str) -> None:
    bare, padded = parse_verdict(text, SIMPLEQA), parse_verdict(margin + text + margin, SIMPLEQA)
    assert (bare.label, bare.failure) == (padded.label, padded.failure)


WRAPPERS = (
    "**{}**",
    "*{}*",
    "__{}__",
    "> {}",
    "# {}",
    "### {}",
    "```\n{}\n```",
    "```text\n{}\n```",
    "- {}",
    "\n\n{}\n\n",
)
DECORATED = {
    "A": "CORRECT",
    "B.": "INCORRECT",
    "NOT_ATTEMPTED": "NOT_ATTEMPTED",
    "C: NOT ATTEMPTED": "NOT_ATTEMPTED",
    "Grade: B": "INCORRECT",
    "They agree.\nFinal verdict: CORRECT": "CORRECT",
    "It differs.\n\nB": "INCORRECT",
    '{"grade": "A"}': "CORRECT",
    "INCORRECT, the year is another.": "INCORRECT",
    "A/B": None,
    "not correct": None,
    "NOT_ATTEMPTED (A)": None,
    "As an AI": None,
    "the answer is A": None,
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(("text", "label"), DECORATED.items())
def test_markdown_around_a_reply_changes_nothing(text: str, label: str | None, wrapper: str) -> None:
    assert parse_verdict(text, SIMPLEQA).label == label
    assert parse_verdict(wrapper.format(text), SIMPLEQA).label == label
    assert parse_verdict(wrapper.format(wrapper.format(text)), SIMPLEQA).label == label


@pytest.mark.parametrize("quote", ["`{}`", '"{}"', "“{}”", "'{}'", "({})", "[{}]", "【{}】"])
@pytest.mark.parametrize(("text", "label"), [("A", "CORRECT"), ("INCORRECT", "INCORRECT"), ("A, C", None), ("D", None)])
def test_quotes_and_brackets_around_a_label_change_nothing(text: str, label: str | None, quote: str) -> None:
    assert parse_verdict(quote.format(text), SIMPLEQA).label == label


LOOPS = (
    "A ", "A\n", "A (", "CORRECT ", "Grade: A ", "Grade: B\n", "It is not CORRECT. ", "*", "_", "a_", "#", "> ",
    "{", '{"a', "{'a':",
    "[", "<think>", "</think>", "<", "$", "`", "\\boxed{", " ", "\n", ". ", "I grade it as ", "so ", "'",
    '{"grade": "A"}',
    "{'grade': 'A'}", "A/", "as an ai ", "\u200b", "【", "…", "-", "1. ", "| ", "grade  -", "~~~",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", LOOPS)
def test_a_megabyte_is_read_in_a_second(piece: str) -> None:
    loop = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    seconds = []
    for text in (loop, loop + "\nGRADE: A", "x" + loop):
        start = time.process_time()
        assert_is_verdict(parse_verdict(text, SIMPLEQA), SIMPLEQA)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1.0  # the least of three: the machine may be busy with something else


def test_a_verdict_after_a_megabyte_of_reasoning_is_found() -> None:
    reasoning = "The gold target says 1926 and the prediction says 1926.\n" * 18_000
    assert parse_verdict(reasoning + "\nGRADE: A", SIMPLEQA).label == "CORRECT"
    assert parse_verdict(f"<think>{reasoning} Grade: B</think>\nA", SIMPLEQA).label == "CORRECT"
    assert parse_verdict(reasoning, SIMPLEQA).failure == "unparsed"


DISTRACTIONS = (
    "As an aside, a B-side is named.", "A response may hedge.", "The key is C major.", "It mentions vitamin C.",
    "Hepatitis B, too.",
    "The answer is A.", "It is not clear why.", "The correct year is 1926.", "A partial match.",
    "Both agree on 1,926 of 2,000.",
    "Grade A eggs are named.", "An upgrade: a new one.", "Is it correct?", "It would be incorrect to say 1925.",
)  # fmt: skip
ENDINGS = (
    "Grade: {letter}", "**Grade:** {letter}", "Verdict: {label}", "Final verdict: {label}",
    "The final grade is {letter}.", "{label}",
    "### Verdict: {letter}", "{letter}", "{letter}: {label}", "{label} ({letter})", '{{"grade": "{letter}"}}',
    "\\boxed{{{letter}}}",
    "Hence {letter}.", "I grade it as {label}.",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    prose=st.lists(st.sampled_from(DISTRACTIONS), max_size=8),
    ending=st.sampled_from(ENDINGS),
    label=st.sampled_from(SIMPLEQA.labels),
    gap=st.sampled_from(["\n", "\n\n"]),
)
def test_reasoning_full_of_letters_never_changes_the_verdict_below_it(
    prose: list[str], ending: str, label: str, gap: str
) -> None:
    verdict = ending.format(label=label, letter=SIMPLEQA.letters[label])
    assert parse_verdict(" ".join(prose) + gap + verdict, SIMPLEQA).label == label
    assert parse_verdict(" ".join(prose), SIMPLEQA).label is None
