"""Reasoning and multi-step flags by a judge: a reply that cannot be used is a failure, never a flag."""

from __future__ import annotations

import pytest
from curation_samples import make_question

from calibration_sets.curation.judge import NoReply
from calibration_sets.curation.question_file import question_data, question_digest
from calibration_sets.curation.question_traits import (
    QuestionTraits,
    add_traits,
    classify_questions,
    load_traits_prompt,
)

PROMPT = load_traits_prompt()


def test_the_judge_reads_the_question_and_never_the_answer() -> None:
    question = make_question("q", "How much is $answer$$ in ${question}?", "Brelinsk")
    prompts: list[str] = []

    def judge(texts):
        prompts.extend(texts)
        return ["reasoning: no\nmulti_step: no"] * len(texts)

    classify_questions([question], judge, PROMPT)
    assert prompts[0].endswith("Question: How much is $answer$$ in ${question}?")
    assert "Brelinsk" not in prompts[0]
    assert PROMPT.title.startswith("question_traits@1.0.0#")


@pytest.mark.parametrize(
    ("reply", "reasoning", "multi_step", "failure"),
    [
        ("reasoning: yes\nmulti_step: no", True, False, None),
        ("**Reasoning:** No\n- multi_step: YES.", False, True, None),
        ("It takes two look-ups.\nmulti_step: yes\nreasoning: no\n", False, True, None),
        ("reasoning: yes\nreasoning: yes\nmulti_step: no", True, False, None),
        ("reasoning: yes\nreasoning: no\nmulti_step: no", None, None, "contradicts itself"),
        ("reasoning: yes", None, None, "not both lines"),
        ("reasoning: yes or no\nmulti_step: yes or no", None, None, "not both lines"),
        ("reasoning: not sure\nmulti_step: no", None, None, "not both lines"),
        ("", None, None, "not both lines"),
        (NoReply("overloaded"), None, None, "no reply, overloaded"),
    ],
)
def test_replies(reply: str | NoReply, reasoning: bool | None, multi_step: bool | None, failure: str | None) -> None:
    found = classify_questions([make_question("q")], lambda _: [reply], PROMPT)
    assert found == (QuestionTraits("q", reasoning, multi_step, failure),)


def test_a_judge_that_loses_a_reply_is_a_bug() -> None:
    with pytest.raises(ValueError, match="shorter"):
        classify_questions([make_question("a"), make_question("b")], lambda _: ["reasoning: no"], PROMPT)


def test_flags_go_into_the_metadata_and_failures_leave_a_question_alone() -> None:
    questions = [make_question("a", metadata={"kept": 1}), make_question("b")]
    traits = (QuestionTraits("a", True, False), QuestionTraits("b", None, None, "no reply"))
    flagged = list(add_traits(questions, traits, PROMPT))
    assert question_data(flagged[0])["metadata"] == {
        "kept": 1,
        "requires_reasoning": True,
        "multi_step": False,
        "traits_prompt": PROMPT.title,
    }
    assert question_digest(flagged[1]) == question_digest(questions[1])
