from __future__ import annotations

from typing import Any

import pytest

from calibration_sets.scale import BINARY, SCALES, SIMPLEQA, LabelScale


def test_the_simpleqa_scale_has_the_letters_of_its_prompts() -> None:
    assert SIMPLEQA.labels == ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
    assert SIMPLEQA.letters == {"CORRECT": "A", "INCORRECT": "B", "NOT_ATTEMPTED": "C"}


def test_scales_are_named_by_their_own_names() -> None:
    assert all(SCALES[name].name == name for name in SCALES)


@pytest.mark.parametrize("scale", [scale for scale in SCALES.values() if scale.positive], ids=lambda scale: scale.name)
def test_scales_with_a_right_label_go_from_worst_to_best(scale: LabelScale) -> None:
    assert scale.index("INCORRECT") == 0
    assert scale.positive == scale.labels[-1] == "CORRECT"


def test_labels_that_are_ascending_numbers_of_an_ordered_scale_have_values() -> None:
    assert SCALES["der2_rubric"].values == (0, 0.25, 0.5, 0.75, 1)
    assert LabelScale("marks", ("1", "2", "5"), level="interval").values == (1, 2, 5)
    for labels, level in ((("1", "2"), "nominal"), (("2", "1"), "ordinal"), (("1", "1.0"), "ordinal")):
        assert LabelScale("marks", labels, level=level).values is None  # type: ignore[arg-type]
    for labels in (("1", "x"), ("0", "inf"), ("nan", "1")):
        assert LabelScale("marks", labels, level="ordinal").values is None
    assert SIMPLEQA.values is None


def test_labels_that_are_sets_have_parts() -> None:
    assert SCALES["der2_errors"].parts == ("PROCESS", "FORMAL", "MISSING", "MISUSED")
    assert len(SCALES["der2_errors"].labels) == 4 + 6
    for labels in (("A+", "A"), ("A", "B"), ("A", "A + B"), ("A", "B", "A + B", "B + A"), ("A", "B", "A + A")):
        assert LabelScale("sets", labels).parts is None


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
