"""The [answering] table: respondents, their names and settings, and the questions that they are asked."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calibration_sets.errors import SetFileError
from calibration_sets.references.reference_parser import parse_reference
from experiments.errors import SpecError
from experiments.respondents.questions import build_questions, strip_reference
from experiments.specs.experiment import Experiment, load_experiment
from graders.support import require_support

MODEL = '[[answering.models]]\nmodel = "openai/gpt-4.1-2025-04-14"\n'
GRADER = '[[graders]]\nmodel = "baseline/lexical"\nsampling = { repeats = 1 }\n'


def write(
    folder: Path,
    *,
    models: str = MODEL,
    answering: str = "",
    set_name: str = "small",
    extra: str = "",
    prompts: str = "",
) -> Path:
    path = folder / "grid.toml"
    prompts = prompts or '"question_only@1.0.0", "guess_is_free"'
    path.write_text(
        f'name = "grid"\nset = "{set_name}"\n{extra}\n'
        f"[answering]\nprompts = [{prompts}]\n{answering}\n{models}{GRADER}",
        encoding="utf-8",
    )
    return path


def load(study: Any, **changes: Any) -> Experiment:
    return load_experiment(str(write(study.folder, **changes)))


def respondents(experiment: Experiment) -> Any:
    assert experiment.answering is not None
    return experiment.answering.respondents


def test_respondents_are_models_times_prompts_and_answer_freely(study: Any) -> None:
    other = '[[answering.models]]\nmodel = "local/smollm2"\ntemperature = 0.5\nmax_tokens = 99\n'
    experiment = load(study, models=MODEL + other, answering="seed = 7\nrepeats = 2")
    found = respondents(experiment)
    assert [(one.model, one.prompt) for one in found] == [
        ("openai/gpt-4.1-2025-04-14", "question_only@1.0.0"),
        ("openai/gpt-4.1-2025-04-14", "guess_is_free@1.0.0"),
        ("local/smollm2", "question_only@1.0.0"),
        ("local/smollm2", "guess_is_free@1.0.0"),
    ]
    assert found[0].name == "openai/gpt-4.1-2025-04-14 | question_only@1.0.0"
    assert {(one.grader.sampling.channel, one.grader.sampling.constrained) for one in found} == {("letter", False)}
    assert {(one.grader.sampling.seed, one.grader.sampling.repeats) for one in found} == {(7, 2)}
    assert [one.grader.sampling.max_tokens for one in found] == [1024, 1024, 99, 99]
    assert [one.grader.sampling.temperature for one in found] == [1.0, 1.0, 0.5, 0.5]
    assert len({one.grader.grader_id for one in found}) == 4


def test_the_temperature_is_the_services_where_none_is_named(study: Any) -> None:
    left, asked = load(study), load(study, answering="temperature = 1.0")
    assert all(one.own_temperature and one.grader.capabilities.temperature is None for one in respondents(left))
    assert not any(one.own_temperature for one in respondents(asked))
    assert respondents(left)[0].grader.grader_id != respondents(asked)[0].grader.grader_id
    require_support([one.grader for one in respondents(left)])


def test_a_model_that_thinks_gets_its_room_unless_the_file_says_otherwise(study: Any) -> None:
    thinks = '[[answering.models]]\nmodel = "openai-compatible/m"\nbase_url = "http://localhost:1/v1"\n'
    thinks += "capabilities = { default_max_tokens = 9000 }\n"
    limits = [
        respondents(load(study, models=thinks))[0].grader.sampling.max_tokens,
        respondents(load(study, models=thinks, answering="max_tokens = 300"))[0].grader.sampling.max_tokens,
        respondents(load(study, models=thinks + 'reasoning_effort = "none"\n'))[0].grader.sampling.max_tokens,
    ]
    assert limits == [9000, 300, 1024]


def test_one_model_under_several_settings_is_told_apart(study: Any) -> None:
    high = MODEL + 'reasoning_effort = "high"\n'
    at_one = '[[answering.models]]\nmodel = "openai-compatible/m"\nbase_url = "http://localhost:1/v1"\n'
    at_two = at_one.replace(":1/", ":2/")
    experiment = load(study, models=MODEL + high + at_one + at_two)
    assert list(dict.fromkeys(one.model for one in respondents(experiment))) == [
        "openai/gpt-4.1-2025-04-14",
        "openai/gpt-4.1-2025-04-14 (reasoning_effort high)",
        "openai-compatible/m #1",
        "openai-compatible/m #2",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prompts": '"nothing"'}, r"answering\.prompts: answer prompt 'nothing' is unknown"),
        ({"prompts": '"question_only", "question_only@1.0.0"'}, "asks what .* asks"),
        ({"models": MODEL + MODEL}, "asks what .* asks; expected each wording of each model once"),
        ({"models": MODEL.replace("openai/gpt-4.1-2025-04-14", "baseline/lexical")}, "answers no questions"),
        ({"models": MODEL.replace("openai/gpt-4.1-2025-04-14", "nobody/x")}, r"answering\.models\[0\]: model"),
        ({"models": MODEL.replace("openai/", "openai-compatible/")}, r"models\[0\]\.base_url: missing"),
        ({"models": MODEL + 'base_url = "no address"\n'}, r"answering\.models\[0\]"),
        ({"models": MODEL + "capabilities = { wings = 2 }\n"}, r"answering\.models\[0\]\.capabilities"),
        ({"answering": "wings = 2"}, "wings"),
        ({"extra": '[items]\nstratify = "label"'}, "expected kind, topic or answer_type for questions"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_place(study: Any, changes: dict[str, str], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(study, **changes)


def test_a_wording_beside_the_file_is_found(study: Any) -> None:
    (study.folder / "mine.md").write_text("+++\n+++\n$question Quickly!", encoding="utf-8")
    assert respondents(load(study, prompts='"mine.md"'))[0].prompt == "mine@0.0.0"


def test_questions_are_distinct_and_have_no_response(study: Any) -> None:
    experiment = load(study)
    questions = experiment.calibration_set
    assert [item.item_id for item in questions.items] == [f"i{place}" for place in range(8)]
    assert {item.response for item in questions.items} == {""}
    assert questions.human_labels == ()
    assert experiment.n_items_in_set == 8
    again = study.items[0]
    study.write_set((*study.items, replace(again, item_id="again", response="something else", kind="odd")))
    twice = load(study).calibration_set
    assert len(twice.items) == 8
    assert twice.items[0].kind is None
    assert build_questions(twice).digest == twice.digest


def test_the_commonest_reference_of_a_question_counts(study: Any) -> None:
    first = study.items[0]
    others = [replace(first, item_id=f"o{place}", reference=parse_reference("zero")) for place in range(2)]
    others[1] = replace(others[1], response="x")
    study.write_set((first, *others))
    assert [item.reference.text for item in load(study).calibration_set.items] == ["zero"]


def test_what_is_stored_for_a_question_does_not_depend_on_its_reference(study: Any) -> None:
    first, second = study.items[:2]
    assert strip_reference(first).digest == strip_reference(replace(first, reference=second.reference)).digest
    assert strip_reference(first).digest != strip_reference(second).digest


def test_limit_and_sample_count_questions(study: Any) -> None:
    path = write(study.folder)
    assert len(load_experiment(str(path), limit=3).calibration_set.items) == 3
    assert len(load(study, extra="[items]\nsample = 5").calibration_set.items) == 5
    odd = load(study, extra='[items]\nexclude_kinds = ["even"]')
    assert [item.item_id for item in odd.calibration_set.items] == ["i1", "i3", "i5", "i7"]
    assert odd.n_items_in_set == 4


def test_the_run_depends_on_who_answers(study: Any) -> None:
    ids = {
        load(study).run_id,
        load(study, prompts='"question_only"').run_id,
        load(study, answering="seed = 3").run_id,
        load(study, answering="repeats = 2").run_id,
        load(study, models=MODEL.replace("4.1", "4.1-mini")).run_id,
    }
    assert len(ids) == 5
    assert load(study).run_id == load(study).run_id


def test_questions_of_simpleqa_verified_are_read_from_its_csv(study: Any) -> None:
    columns = (
        "original_index",
        "problem",
        "answer",
        "topic",
        "answer_type",
        "multi_step",
        "requires_reasoning",
        "urls",
    )
    with (study.folder / "excerpt.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerow((5, "Who built it?", "Ada Brook", "Art", "Person", "False", "False", "https://a.example/1"))
        rows.writerow((9, "When was it built?", "1908", "Art", "Date", "False", "False", "https://a.example/2"))
    experiment = load(study, set_name="excerpt.csv")
    items = experiment.calibration_set.items
    assert [item.item_id for item in items] == ["simpleqa_verified-0005", "simpleqa_verified-0009"]
    assert [item.reference.text for item in items] == ["Ada Brook", "1908"]
    assert [item.answer_type for item in items] == ["Person", "Date"]
    (study.folder / "excerpt.csv").write_text("no,columns\n1,2\n", encoding="utf-8")
    with pytest.raises(SetFileError):
        load(study, set_name="excerpt.csv")


def test_the_shipped_example_is_twelve_models_times_ten_wordings() -> None:
    experiment = load_experiment("ab_anti_abstention")
    found = respondents(experiment)
    assert len({one.model for one in found}) == 12
    assert len({one.prompt for one in found}) == 10
    assert len(found) == 120
    rule = experiment.decisions.ab
    assert rule is not None
    assert rule.control in {one.prompt for one in found}
    require_support([*(one.grader for one in found), *experiment.graders])


def test_an_experiment_without_answering_keeps_its_id(study: Any) -> None:
    experiment = load_experiment(str(study.experiment))
    assert experiment.answering is None
    told = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    assert f"run {load_experiment('quickstart').run_id}\n" in told
