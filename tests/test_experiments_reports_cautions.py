"""What a report warns of."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.reports.cautions import grader_cautions, is_pinned, set_cautions


def section(**changes: Any) -> dict[str, Any]:
    """A grader's section with nothing to warn of, changed."""
    rate = {"value": 0.1, "clusters": 50}
    return {
        "number": 1,
        "model": "local/tiny",
        "rubric": "r@1",
        "labels": {"rubric": "r@1"},
        "n_expected": 100,
        "n_verdicts": 100,
        "n_repeats": 2,
        "verdicts": {"CORRECT": 50, "INCORRECT": 50},
        "false_negative_rate": rate,
        "false_positive_rate": rate,
        "false_negative_rate_bounds": None,
        "false_positive_rate_bounds": None,
        "served_models": ["tiny"],
        "sampling": {"temperature": 2.0, "seed": 0, "repeats": 2},
        "effective_sampling": [{"temperature": 2.0, "seed": 17}],
    } | changes


def about(**changes: Any) -> dict[str, Any]:
    return {
        "n_items": 50,
        "n_questions": 50,
        "n_labelled": 50,
        "n_same_content": 0,
        "label_counts": {"CORRECT": 25, "INCORRECT": 25},
    } | changes


def test_nothing_to_warn_of() -> None:
    assert grader_cautions(section(), parser_rule="robust") == []
    assert set_cautions(about(), n_items_in_set=50, n_stale=0) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": {"rubric": "r@0"}}, "labels were given under r@0, the grader follows r@1"),
        ({"n_verdicts": 97, "false_negative_rate_bounds": [0.1, 0.15]}, "false negatives 10.0% to 15.0%"),
        ({"n_verdicts": 97}, "3 of 100 verdicts missing"),
        ({"n_repeats": 1}, "one verdict an item"),
        ({"verdicts": {"CORRECT": 100, "INCORRECT": 0}}, "every valid verdict is CORRECT"),
        ({"false_positive_rate": {"value": 0.0, "clusters": 4}}, "false-positive rate rests on 4 questions"),
        ({"served_models": ["tiny-1", "tiny-2"]}, "served model changed within the run: tiny-1, tiny-2"),
        ({"model": "some/some-model-latest"}, "unpinned model"),
        ({"served_models": ["some-model-latest"]}, "unpinned model"),
        ({"effective_sampling": [{"temperature": 1.0}]}, "temperature asked 2.0, in force 1.0"),
    ],
)
def test_each_reason_to_warn(changes: dict[str, Any], words: str) -> None:
    (warning,) = grader_cautions(section(**changes), parser_rule="robust")
    assert words in warning
    assert warning.startswith("grader 1 (")


def test_settings_that_are_not_known_cannot_differ() -> None:
    assert (
        grader_cautions(
            section(sampling={"temperature": None}, effective_sampling=[{"temperature": 2.0}]), parser_rule="robust"
        )
        == []
    )


def test_an_integer_temperature_is_the_same_temperature() -> None:
    assert (
        grader_cautions(
            section(sampling={"temperature": 2}, effective_sampling=[{"temperature": 2.0}]), parser_rule="robust"
        )
        == []
    )


@pytest.mark.parametrize(
    ("asked", "in_force", "told"),
    [
        (64, {"max_tokens": 1, "constrained": True}, False),
        (64, {"max_tokens": 1, "constrained": False}, True),
        (64, {"max_tokens": 1, "constrained": None}, True),
        (64, {"max_tokens": 1}, True),
        (1, {"max_tokens": 64, "constrained": True}, True),
    ],
)
def test_a_limit_of_tokens_that_only_fits_the_labels_is_no_news(
    asked: int, in_force: dict[str, Any], told: bool
) -> None:
    found = grader_cautions(
        section(sampling={"max_tokens": asked}, effective_sampling=[in_force]), parser_rule="robust"
    )
    assert [warning.partition(": ")[2] for warning in found] == (
        [f"max_tokens asked {asked}, in force {in_force['max_tokens']}"] if told else []
    )


@pytest.mark.parametrize(
    ("fields", "in_set", "stale", "words"),
    [
        (about(), 80, 0, "50 of its 80 items"),
        (about(), 50, 2, "2 labels were given to an older wording"),
        (about(n_same_content=3), 50, 0, "3 items repeat the content"),
        (about(n_questions=9), 50, 0, "9 questions only"),
        (about(n_labelled=0, label_counts={"CORRECT": 0}), 50, 0, "no item has a label"),
        (about(label_counts={"CORRECT": 50, "INCORRECT": 0}), 50, 0, "one class only, all 50 labels are CORRECT"),
    ],
)
def test_each_reason_to_warn_about_a_set(fields: dict[str, Any], in_set: int, stale: int, words: str) -> None:
    (warning,) = set_cautions(fields, n_items_in_set=in_set, n_stale=stale)
    assert words in warning


@pytest.mark.parametrize(
    ("model", "pinned"),
    [
        ("baseline/lexical", True),
        ("local/smollm2", True),
        ("replay/latest.jsonl", True),
        ("import/GPT-4", True),
        ("import/gpt-4-latest", False),
        ("vendor/gpt-4o", False),
        ("vendor/gpt-4o-2024-08-06", True),
        ("vendor/claude-x-20241022", True),
        ("vendor/gpt-4-0613", True),
        ("vendor/gemini-pro-002", True),
        ("hub/owner/model@0123abcdef", True),
        ("hub/owner/model", False),
        ("vendor/model:latest", False),
        ("vendor/latest-20241022", False),
    ],
)
def test_whether_a_name_says_its_version(model: str, pinned: bool) -> None:
    assert is_pinned(model) is pinned


def test_a_grader_that_the_official_parser_does_not_read_is_named() -> None:
    (warning,) = grader_cautions(section(parser_rule="robust"), parser_rule="official")
    assert warning.endswith("they are not letters, which the official one looks for")
    assert grader_cautions(section(parser_rule="official"), parser_rule="official") == []
    assert grader_cautions(section(parser_rule="label"), parser_rule="official") == []
