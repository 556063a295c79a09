"""The official rule, the rule for imported labels, and the channels of a completion."""

from __future__ import annotations

import pytest

from calibration_sets.scale import BINARY, SIMPLEQA, LabelScale
from graders.parsing import parse_completion, parse_verdict
from graders.verdict import Completion

C, I, N = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"  # noqa: E741

CIP = LabelScale("cip", (I, "PARTIAL", C), letters={C: "C", I: "I", "PARTIAL": "P"})
SWAPPED = LabelScale("swapped", (I, N, C), letters={I: "C", N: "B", C: "A"})
PHRASES = LabelScale("phrases", ("clearly wrong", "partly right", "fully right"), words={"fully right": ("spot on",)})


class TestOfficialRule:
    """What the reference implementation does, mistakes included, so that they can be counted."""

    @pytest.mark.parametrize(
        ("text", "label"),
        [
            ("A", C), ("B", I), ("C", N), ("NOT ATTEMPTED", C), ("CORRECT", N), ("INCORRECT", N),
            ("incorrect", N), ("As an AI", C),
            ("", N), (None, N), ("%%%", N), ("The grade is B.", I), ("I Cannot say: B", N),
        ],
    )  # fmt: skip
    def test_first_letter_anywhere_and_else_the_default(self, text: str | None, label: str) -> None:
        verdict = parse_verdict(text, SIMPLEQA, rule="official", stop_reason="length")
        assert (verdict.label, verdict.failure, verdict.rule) == (label, None, "official")

    def test_its_letters_are_those_of_the_scale(self) -> None:
        assert parse_verdict("Best", SWAPPED, rule="official").label == N
        assert parse_verdict("none", SWAPPED, rule="official").label == N

    @pytest.mark.parametrize("scale", [BINARY, CIP, PHRASES, LabelScale("bare", (I, N, C))])
    def test_a_scale_without_its_default_is_an_error(self, scale: LabelScale) -> None:
        with pytest.raises(ValueError, match="NOT_ATTEMPTED"):
            parse_verdict("A", scale, rule="official")


class TestLabelRule:
    """For imported verdicts: a label, spelt exactly."""

    @pytest.mark.parametrize("label", SIMPLEQA.labels)
    def test_a_label_is_itself(self, label: str) -> None:
        verdict = parse_verdict(label, SIMPLEQA, rule="label")
        assert (verdict.label, verdict.failure, verdict.rule) == (label, None, "label")

    @pytest.mark.parametrize("text", ["A", "correct", "CORRECT ", "NOT ATTEMPTED", "None", "0"])
    def test_anything_else_is_off_scale(self, text: str) -> None:
        assert parse_verdict(text, SIMPLEQA, rule="label").failure == "off_scale"

    @pytest.mark.parametrize("text", [None, "", " \n"])
    def test_nothing_is_empty(self, text: str | None) -> None:
        assert parse_verdict(text, SIMPLEQA, rule="label").failure == "empty"


class TestCompletions:
    """The channel decides what is read."""

    @staticmethod
    def by_logprobs(logprobs: dict[str, float] | None, text: str = "A", stop_reason: str = "stop") -> str:
        completion = Completion(text, "model", stop_reason, logprobs)
        verdict = parse_completion(completion, SIMPLEQA, "logprobs")
        assert "log-probabilities" in verdict.evidence
        return verdict.label or str(verdict.failure)

    def test_the_most_probable_label_wins_whatever_the_text(self) -> None:
        assert self.by_logprobs({C: -2.0, I: -0.5, N: -3.0}) == I
        assert self.by_logprobs({C: -2.0}) == C

    def test_no_label_is_made_up_where_log_probabilities_do_not_say(self) -> None:
        infinity = float("inf")
        assert self.by_logprobs(None) == "unparsed"
        assert self.by_logprobs({}) == "unparsed"
        assert self.by_logprobs({C: -0.7, I: -0.7, N: -3.0}) == "ambiguous"
        assert self.by_logprobs({C: float("nan"), I: -1.0}) == "unparsed"
        assert self.by_logprobs({C: -infinity, I: -infinity}) == "unparsed"
        assert self.by_logprobs({"MAYBE": -0.1, I: -1.0}) == "off_scale"
        assert self.by_logprobs({C: -0.1, I: -1.0}, stop_reason="content_filter") == "refused"

    @pytest.mark.parametrize("channel", ["letter", "word", "json", "tool"])
    def test_other_channels_read_the_text_with_its_stop_reason(self, channel: str) -> None:
        logprobs = {C: -0.1, I: -5.0}
        assert parse_completion(Completion("B", "m", "stop", logprobs), SIMPLEQA, channel).label == I  # type: ignore[arg-type]
        cut = parse_completion(Completion("IN", "m", "length", logprobs), SIMPLEQA, channel)  # type: ignore[arg-type]
        assert cut.failure == "truncated"

    def test_the_official_rule_reads_text_in_every_channel(self) -> None:
        completion = Completion("CORRECT", "m", "stop", {C: -0.1, I: -5.0})
        assert parse_completion(completion, SIMPLEQA, "logprobs", rule="official").label == N
