"""The stages that need nobody's word: addresses, near-duplicates, balance, the hardest."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from curation_samples import NO_RESPONSES, embedder_of, ids, make_question, make_responses
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity

from calibration_sets.curation.balance import balance_questions
from calibration_sets.curation.embedders import latent_semantic_embedder, read_embeddings
from calibration_sets.curation.hardest import keep_hardest
from calibration_sets.curation.quotas import fill_quotas
from calibration_sets.curation.semantic_duplicates import drop_semantic_duplicates
from calibration_sets.curation.similarity import choose_apart, choose_survivors, find_similar_pairs
from calibration_sets.curation.source_urls import host_of, source_urls, url_key
from calibration_sets.curation.unique_urls import keep_unique_urls
from calibration_sets.errors import SetFileError

SITES = [f"https://site.example/{page}" for page in "abcdef"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://site.example/a", "http://site.example/a"),
        ("https://www.site.example/a", "https://site.example/a/"),
        ("https://site.example/a#part", "https://site.example/a"),
        ("https://SITE.example/a", "https://site.example/a"),
    ],
)
def test_spellings_of_one_address_are_one(one: str, other: str) -> None:
    assert url_key(one) == url_key(other)


@pytest.mark.parametrize(
    "other", ["https://site.example/A", "https://site.example/a?page=2", "https://en.site.example/a"]
)
def test_other_addresses_are_others(other: str) -> None:
    assert url_key(other) != url_key("https://site.example/a")


def test_cells_hold_several_addresses_notes_and_stray_brackets() -> None:
    cells = (
        "- https://site.example/a\n- https://site.example/b",
        "p. 16\nhttps://site.example/c.pdf)",
        "https://site.example/Dolly_(sheep)",
        "Lang was the only one to stay.",
        "https://[half",
    )
    question = make_question("q", urls=cells)
    assert source_urls(question) == (
        "https://site.example/a",
        "https://site.example/b",
        "https://site.example/c.pdf",
        "https://site.example/Dolly_(sheep)",
    )
    assert host_of("https://Site.example:8080/x") == "site.example"


def test_the_question_that_all_models_failed_is_kept_of_those_that_share_an_address() -> None:
    questions = [make_question(name, urls=(SITES[0],)) for name in ("easy", "hard", "mixed")]
    responses = make_responses({"easy": "CC", "hard": "IN", "mixed": "IC"})
    for seed in range(5):
        result = keep_unique_urls(questions, responses, match="any", seed=seed)
        assert ids(result.kept) == ["hard"]
        assert [(drop.question_id, drop.reason) for drop in result.drops] == [
            ("easy", "shares an address"),
            ("mixed", "shares an address"),
        ]
        assert result.drops[0].detail == "hard: site.example/a"


def test_a_question_without_a_verdict_is_not_taken_for_a_failed_one() -> None:
    questions = [make_question(name, urls=(SITES[0],)) for name in ("unknown", "failed")]
    responses = make_responses({"unknown": "I-", "failed": "IN"})
    assert all(
        ids(keep_unique_urls(questions, responses, match="any", seed=seed).kept) == ["failed"] for seed in range(8)
    )


def test_first_addresses_alone_or_all() -> None:
    questions = [make_question("a", urls=(SITES[0], SITES[1])), make_question("b", urls=(SITES[2], SITES[1]))]
    assert len(keep_unique_urls(questions, NO_RESPONSES, match="any", seed=0).kept) == 1
    assert len(keep_unique_urls(questions, NO_RESPONSES, match="first", seed=0).kept) == 2


def test_questions_without_addresses_stay_and_are_counted() -> None:
    result = keep_unique_urls([make_question("a"), make_question("b")], NO_RESPONSES, match="any", seed=0)
    assert ids(result.kept) == ["a", "b"]
    assert result.notes == ("2 questions have no address and share none",)


@given(st.lists(st.sets(st.sampled_from(SITES), max_size=3), max_size=12), st.integers(0, 3), st.randoms())
def test_at_most_one_question_an_address_whatever_the_order(
    addresses: list[set[str]], seed: int, shuffle: random.Random
) -> None:
    questions = [make_question(f"q{place}", urls=tuple(sorted(urls))) for place, urls in enumerate(addresses)]
    result = keep_unique_urls(questions, NO_RESPONSES, match="any", seed=seed)
    kept = [url_key(url) for question in result.kept for url in source_urls(question)]
    assert len(kept) == len(set(kept))
    for drop in result.drops:
        own = next(question for question in questions if question.question_id == drop.question_id)
        assert {url_key(url) for url in source_urls(own)} & set(kept), "dropped though nothing that is kept shares it"
    again = list(questions)
    shuffle.shuffle(again)
    assert set(ids(keep_unique_urls(again, NO_RESPONSES, match="any", seed=seed).kept)) == set(ids(result.kept))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 9), st.booleans())
def test_pairs_by_blocks_are_those_of_all_cosines(seed: int, n: int, block: int, is_sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n, 4)) * (rng.random((n, 4)) < 0.7)
    cosines = cosine_similarity(dense)
    wanted = {(i, j) for i in range(n) for j in range(i + 1, n) if cosines[i, j] > 0.6}
    near = {(i, j) for i in range(n) for j in range(i + 1, n) if abs(cosines[i, j] - 0.6) < 1e-5}
    vectors = sparse.csr_array(dense) if is_sparse else dense
    found = find_similar_pairs(vectors, threshold=0.6, block_rows=block)
    assert {(pair.first, pair.second) for pair in found} - near == wanted - near
    assert all(math.isclose(pair.cosine, cosines[pair.first, pair.second], abs_tol=1e-5) for pair in found)


def test_the_cosine_must_exceed_the_threshold() -> None:
    questions = [make_question("a"), make_question("b"), make_question("c")]
    at_threshold = embedder_of({"What is a?": (1, 0), "What is b?": (0.5, math.sqrt(0.75)), "What is c?": (0, -1)})
    result = drop_semantic_duplicates(questions, NO_RESPONSES, at_threshold, threshold=0.5001, seed=0)
    assert len(result.kept) == 3
    result = drop_semantic_duplicates(questions, NO_RESPONSES, at_threshold, threshold=0.4999, seed=0)
    assert len(result.kept) == 2
    assert "c" in ids(result.kept)
    assert result.drops[0].detail.endswith("cosine 0.500")


def test_a_chain_of_near_duplicates_keeps_its_ends_if_they_are_preferred() -> None:
    """a-b and b-c are near, a-c are not: with b gone both others stay."""
    vectors = {
        f"What is {name}?": (math.cos(angle), math.sin(angle)) for name, angle in (("a", 0), ("b", 0.5), ("c", 1))
    }
    questions = [make_question(name) for name in "abc"]
    responses = make_responses({"a": "I", "b": "C", "c": "I"})
    result = drop_semantic_duplicates(questions, responses, embedder_of(vectors), threshold=0.8, seed=0)
    assert ids(result.kept) == ["a", "c"]


@pytest.mark.parametrize("vectors", [{"What is a?": (math.nan, 1)}, {"What is a?": 1.0}])
def test_an_embedder_that_gives_no_vectors_is_an_error(vectors: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(SetFileError, match=r"looked up.*expected one vector of finite numbers each"):
        drop_semantic_duplicates([make_question("a")], NO_RESPONSES, embedder_of(vectors), threshold=0.7, seed=0)


def test_the_built_in_embedder_finds_the_same_question_twice_and_no_other() -> None:
    texts = ["In which year was Ullenby founded?", "Ullenby was founded in which year?", "Who painted the blue door?"]
    questions = [make_question(name, text) for name, text in zip("abc", texts, strict=True)]
    result = drop_semantic_duplicates(questions, NO_RESPONSES, latent_semantic_embedder(512), threshold=0.77, seed=0)
    assert len(result.kept) == 2
    assert "c" in ids(result.kept)


@pytest.mark.parametrize("texts", [["?", "!"], ["日本", "日本"], ["a", "b"]])
def test_the_built_in_embedder_takes_texts_without_words(texts: list[str]) -> None:
    vectors = latent_semantic_embedder(4).embed(texts)
    assert vectors.shape[0] == len(texts)
    assert np.isfinite(vectors).all()


def test_order_of_rows_does_not_matter_to_the_built_in_embedder() -> None:
    rng = random.Random(5)
    words = ["ship", "tower", "year", "town", "river", "painter", "born", "founded", "named", "built"]
    questions = [make_question(f"q{place}", " ".join(rng.choices(words, k=5)) + "?") for place in range(40)]
    kept = set()
    for _ in range(3):
        rng.shuffle(questions)
        embedder = latent_semantic_embedder(5)
        result = drop_semantic_duplicates(questions, NO_RESPONSES, embedder, threshold=0.77, seed=1)
        kept.add(frozenset(ids(result.kept)))
    assert len(kept) == 1
    assert len(next(iter(kept))) < 40


def test_vectors_from_a_file(tmp_path) -> None:
    path = tmp_path / "vectors.jsonl"
    path.write_text('{"text": "What is a?", "vector": [1, 0]}\n{"text": "What is b?", "vector": [1, 0.1]}\n')
    questions = [make_question("a"), make_question("b")]
    result = drop_semantic_duplicates(questions, NO_RESPONSES, read_embeddings(path), threshold=0.77, seed=0)
    assert len(result.kept) == 1
    with pytest.raises(SetFileError, match=r"vectors.jsonl: no vector for 1 questions, such as 'What is c\?'"):
        read_embeddings(path).embed(["What is a?", "What is c?"])
    path.write_text('{"text": "a", "vector": [1, 0]}\n{"text": "b", "vector": [1]}\n')
    with pytest.raises(SetFileError, match="different lengths"):
        read_embeddings(path)


@given(
    st.dictionaries(st.text("abcde", min_size=1, max_size=2), st.integers(0, 30), max_size=6),
    st.integers(0, 100),
    st.dictionaries(st.text("abcde", min_size=1, max_size=2), st.floats(0, 5), max_size=6),
)
def test_quotas_fit_what_there_is_and_come_to_the_total(
    available: dict[str, int], total: int, weights: dict[str, float]
) -> None:
    quotas = fill_quotas(available, total, weights=weights or None)
    usable = [name for name in available if not weights or weights.get(name, 0) > 0]
    assert sum(quotas.values()) == min(total, sum(available[name] for name in usable))
    assert all(0 <= quotas[name] <= available[name] for name in available)
    if not weights:
        short = [quotas[name] for name in available if quotas[name] < available[name]]
        assert not short or max(short) - min(short) <= 1, "even, but for who has no more"


def test_largest_remainders() -> None:
    assert fill_quotas({"a": 9, "b": 9, "c": 9}, 10, weights={"a": 2, "b": 1, "c": 1}) == {"a": 5, "b": 3, "c": 2}
    assert fill_quotas({"a": 1, "b": 9, "c": 9}, 10) == {"a": 1, "b": 5, "c": 4}


def _balance(questions, responses=NO_RESPONSES, *, size=None, share=0.5, answer_types=None, topics=None):
    return balance_questions(
        questions, responses, size=size, share=share, answer_types=answer_types or {}, topics=topics or {}, seed=0
    )


def test_answer_types_are_balanced_first_and_topics_within_them() -> None:
    questions = [
        make_question(f"{kind}-{topic}-{place}", answer_type=kind, topic=topic)
        for kind, topic, n in (
            ("Date", "Art", 20),
            ("Date", "Sports", 5),
            ("Person", "Art", 9),
            ("Person", "Sports", 3),
        )
        for place in range(n)
    ]
    result = _balance(questions, size=20)
    counts = {
        key: sum(name.startswith(key) for name in ids(result.kept))
        for key in ("Date-Art", "Date-Sports", "Person-Art", "Person-Sports")
    }
    assert counts == {"Date-Art": 5, "Date-Sports": 5, "Person-Art": 7, "Person-Sports": 3}
    assert {drop.reason for drop in result.drops} == {"too many of its kind"}


def test_the_hardest_of_a_kind_stay() -> None:
    questions = [make_question(name, answer_type="Date", topic="Art") for name in ("easy", "hard", "half", "unknown")]
    responses = make_responses({"easy": "CC", "hard": "II", "half": "CI"})
    assert ids(_balance(questions, responses, size=1).kept) == ["hard"]
    assert ids(_balance(questions, responses, size=3).kept) == ["easy", "hard", "half"]


def test_a_target_that_leaves_kinds_out_says_what_is_missing() -> None:
    questions = [make_question("a", answer_type="Date"), make_question("b", answer_type="Person")]
    result = _balance(questions, size=2, answer_types={"Date": 1.0})
    assert ids(result.kept) == ["a"]
    assert result.notes == ("1 of the 2 wanted: the target leaves out the rest",)
    with pytest.raises(
        SetFileError, match=r"balance.answer_types: Dates on no question; expected some of Date, Person"
    ):
        _balance(questions, answer_types={"Dates": 1.0})


def test_a_share_is_of_the_questions_that_come_in() -> None:
    questions = [make_question(f"q{place}") for place in range(10)]
    assert len(_balance(questions, share=0.657).kept) == 7
    assert _balance([], share=0.5).kept == ()


def test_the_hardest_stay_and_unknown_ones_go_first() -> None:
    questions = [make_question(name) for name in ("easy", "unknown", "hard", "half")]
    responses = make_responses({"easy": "CC", "hard": "IN", "half": "CI", "unknown": "--"})
    result = keep_hardest(questions, responses, size=2, seed=0)
    assert ids(result.kept) == ["hard", "half"]
    assert [drop.detail for drop in result.drops] == ["100% of reference responses correct", "no reference response"]
    assert result.notes == ("1 of 4 questions have no reference response: how hard they are is not known",)


def test_without_responses_the_seed_draws() -> None:
    questions = [make_question(f"q{place}") for place in range(30)]
    draws = {tuple(ids(keep_hardest(questions, NO_RESPONSES, size=5, seed=seed).kept)) for seed in (1, 2, 3)}
    assert len(draws) == 3
    assert keep_hardest(questions, NO_RESPONSES, size=5, seed=1) == keep_hardest(
        questions, NO_RESPONSES, size=5, seed=1
    )


def test_scores_count_what_has_no_verdict_and_never_as_a_number() -> None:
    responses = make_responses({"a": "CC", "b": "I-", "c": "N-"})
    questions = [make_question(name) for name in "abcd"]
    first, second = responses.score_models(questions)
    assert first.f1 == pytest.approx(2 * Fraction(1, 3) * Fraction(1, 2) / (Fraction(1, 3) + Fraction(1, 2)))
    assert (first.n, first.n_missing) == (3, 1)
    assert (second.f1, second.n, second.n_missing) == (1.0, 1, 3)
    assert responses.score_models([make_question("d")])[0].f1 is None


@pytest.mark.parametrize(
    ("cells", "keys"),
    [
        (("https://site.example/wiki/Henri_d'A", "https://site.example/wiki/Henri_d'B"), 2),
        (("https://site.example/caf%C3%A9", "http://www.site.example/café/"), 1),
        (("https://bücher.example/a", "https://xn--bcher-kva.example/a"), 1),
        (("https://site.example/a", "https://site.example:443/a"), 1),
        (("https://site.example/a", "https://site.example:8080/a"), 2),
        (("https://site.example/?q=a%26b", "https://site.example/?q=a&b"), 2),
        (("['https://site.example/a','https://site.example/b']",), 2),
        (("https://site.example/a,https://site.example/b",), 2),
        (("https://site.example:99999/a", "ftp://site.example/a", "http://[site/a"), 0),
        (("https://web.example/2020/https://site.example/a",), 1),
    ],
)
def test_spellings_of_addresses(cells: tuple[str, ...], keys: int) -> None:
    assert len({url_key(url) for url in source_urls(make_question("q", urls=cells))}) == keys


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 9))
def test_survivors_without_a_list_of_pairs_are_those_with_one(seed: int, n: int, block: int) -> None:
    rng = np.random.default_rng(seed)
    vectors, order = rng.normal(size=(n, 3)), rng.permutation(n).tolist()
    wanted = choose_survivors(find_similar_pairs(vectors, threshold=0.6), order)
    found = choose_apart(vectors, order, threshold=0.6, block_rows=block)
    assert found.keys() == wanted.keys()
    assert all({pair.first, pair.second} == {wanted[row].first, wanted[row].second} for row, pair in found.items())


def test_a_cosine_that_is_the_threshold_is_not_over_it_and_zeros_are_near_nothing() -> None:
    questions = [make_question(name) for name in "abcd"]
    rows = [(1, 0), (0.77, math.sqrt(1 - 0.77**2)), (0, 0), (0, 0)]
    embedder = embedder_of({one.question: row for one, row in zip(questions, rows, strict=True)})
    result = drop_semantic_duplicates(questions, NO_RESPONSES, embedder, threshold=0.77, seed=0)
    assert len(result.kept) == 4
    assert "2 questions whose vector is all zeros: near nothing, kept" in result.notes
    assert len(drop_semantic_duplicates(questions, NO_RESPONSES, embedder, threshold=0.7699, seed=0).kept) == 3


def test_quotas_of_equal_remainders_go_to_the_first_name() -> None:
    # 1.5, 3 and 10.5 of 15; as binary fractions the weights are not quite a tenth and seven.
    assert fill_quotas({"a": 99, "b": 99, "c": 99}, 15, weights={"a": 0.7, "b": 0.2, "c": 0.1}) == {
        "a": 11,
        "b": 3,
        "c": 1,
    }


def test_fewer_than_wanted_and_missing_verdicts_are_told() -> None:
    questions = [make_question("a"), make_question("b")]
    notes = keep_hardest(questions, make_responses({"a": "C-", "b": "II"}), size=5, seed=0).notes
    assert notes[0] == "2 of the 5 wanted: there are no more"
    assert notes[1].startswith("1 questions lack a usable verdict of some model")
