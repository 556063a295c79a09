from __future__ import annotations

from typing import Any

import pytest

from calibration_sets.scale import BINARY, SCALES, SIMPLEQA, LabelScale


def test_the_simpleqa_scale_has_the_letters_of_its_prompts() -> None:
    assert SIMPLEQA.labels == ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
    assert SIMPLEQA.letters == {"CORRECT": "A", "INCORRECT": "B", "NOT_ATTEMPTED": "C"}


@pytest.mark.parametrize("scale", SCALES.values(), ids=str)
def test_scales_that_can_be_named_go_from_worst_to_best(scale: LabelScale) -> None:
    assert SCALES[scale.name] is scale
    assert scale.index("INCORRECT") == 0
    assert scale.positive == scale.labels[-1] == "CORRECT"


def test_only_exact_labels_are_on_a_scale() -> None:
    assert "CORRECT" in BINARY
    for stranger in ("correct", "yes", "A", "", None, 1):
        assert stranger not in BINARY


def test_a_stranger_has_no_index() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        BINARY.index("NOT_ATTEMPTED")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"labels": ("a",)}, "expected two or more, all different"),
        ({"labels": ("a", "a")}, "expected two or more, all different"),
        ({"letters": {"c": "C"}}, r"\['c'\] not on the scale"),
        ({"words": {"c": ("see",)}}, r"\['c'\] not on the scale"),
        ({"positive": "c"}, r"\['c'\] not on the scale"),
        ({"letters": {"a": "X", "b": "x"}}, r"letter \['x'\] stands for more than one label"),
        ({"words": {"a": ("yes",), "b": ("YES",)}}, r"word \['yes'\] stands for more than one label"),
        ({"words": {"a": ("B",)}}, r"word \['b'\] stands for more than one label"),
        ({"labels": ("Good", "good")}, r"word \['good'\] stands for more than one label"),
    ],
)
def test_scales_that_contradict_themselves(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        LabelScale(**({"name": "s", "labels": ("a", "b")} | change))
