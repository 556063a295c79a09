"""SimpleQA's own questions through the stages, and our ranges beside those of SimpleQA Verified."""

from __future__ import annotations

import resource
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from calibration_sets.curation.curation_run import run_stages
from calibration_sets.curation.embedders import latent_semantic_embedder
from calibration_sets.curation.proposed_ranges import RangeProposal, propose_ranges
from calibration_sets.curation.question_file import load_questions
from calibration_sets.curation.settings import CurationSettings, RangeSettings
from calibration_sets.curation.source_urls import source_urls, url_key
from calibration_sets.curation.stage_folder import read_kept
from calibration_sets.curation.steps import Evidence
from calibration_sets.references.reference import AcceptableRange
from calibration_sets.references.reference_parser import parse_reference

OFFLINE = (
    "unique_urls",
    "semantic_duplicates",
    "lexical_duplicates",
    "publishers",
    "balance",
    "ranges",
    "hardest",
)


def test_simpleqa_through_the_stages_that_need_no_network(calibration_data: Path, tmp_path: Path) -> None:
    questions = load_questions(calibration_data / "simpleqa" / "simple_qa_test_set.csv")
    evidence = Evidence(CurationSettings(), tmp_path / "reviews", latent_semantic_embedder(512))
    memory, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    done = {stage.record.stage: stage.record for stage in run_stages(questions, tmp_path, evidence, OFFLINE)}
    assert time.process_time() - begun < 120
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 600 * 1024, "kilobytes"
    counts = {name: record.n_after for name, record in done.items()}
    assert counts["unique_urls"] == 3046
    # The last digits of a decomposition differ between machines.
    assert counts["semantic_duplicates"] == pytest.approx(2658, abs=15)
    assert counts["lexical_duplicates"] == counts["publishers"] == counts["semantic_duplicates"]
    assert counts["balance"] == round(0.657 * counts["publishers"])
    assert counts["hardest"] == 1000
    kept = read_kept(tmp_path / "1_unique_urls")
    addresses = Counter(key for question in kept for key in {url_key(url) for url in source_urls(question)})
    assert max(addresses.values()) == 1
    types = Counter(question.answer_type for question in read_kept(tmp_path / "5_balance"))
    assert max(types.values()) - min(types.values()) < 120


def _compare(proposal: RangeProposal, carried: AcceptableRange) -> str:
    if proposal.proposed is None:
        return "none proposed"
    ours, theirs = (proposal.proposed.low, proposal.proposed.high), (carried.low, carried.high)
    if ours == theirs:
        return "equal"
    if theirs[0] <= ours[0] and ours[1] <= theirs[1]:
        return "ours within theirs"
    return "theirs within ours" if ours[0] <= theirs[0] and theirs[1] <= ours[1] else "overlap"


def test_ranges_proposed_beside_those_that_simpleqa_verified_carries(calibration_data: Path) -> None:
    published = load_questions(calibration_data / "simpleqa_verified" / "simpleqa_verified.csv")
    carried = {question.question_id: question.reference.ranges for question in published if question.reference.ranges}
    bare = [replace(question, reference=parse_reference(question.reference.answer)) for question in published]
    proposals = propose_ranges(bare, RangeSettings(), numeric_types=["Number"])
    found: Counter[tuple[str, str]] = Counter()
    for proposal in proposals:
        ranges = carried.get(proposal.question.question_id)
        outcome = _compare(proposal, ranges[0]) if ranges else "proposed" if proposal.proposed else "none proposed"
        found["carried" if ranges else "not carried", outcome] += 1
    assert len(carried) == 88
    assert dict(found) == {
        ("carried", "equal"): 65,
        ("carried", "ours within theirs"): 6,
        ("carried", "theirs within ours"): 8,
        ("carried", "none proposed"): 9,
        ("not carried", "proposed"): 13,
        ("not carried", "none proposed"): 84,
    }
