"""Official texts: found without importing, named by their digest, refused where unknown.

The packages here are small ones of our own; one test reads the real ones where they are at hand.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import zipfile
from pathlib import Path
from string import Template

import pytest

from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from graders import official, official_texts, template_source
from graders.errors import PromptError
from graders.official import as_grader_prompt, extract_official
from graders.official_texts import KNOWN_TEXTS, KnownText, digest_of, find_known, squeezed_digest_of

TEXT = """Say CORRECT, INCORRECT or NOT_ATTEMPTED. It costs $5, in a {{set}}.
Question: {question}
Target: {target}
Response: {predicted_answer}
A: CORRECT
B: INCORRECT
C: NOT_ATTEMPTED"""
OTHER = TEXT.replace("It costs", "The range counts. It costs")


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the two texts above published ones."""
    known = (
        KnownText("simpleqa", digest_of(TEXT), squeezed_digest_of(TEXT), "a plain grader"),
        KnownText("simpleqa_verified", digest_of(OTHER), squeezed_digest_of(OTHER), "a grader of ranges"),
    )
    monkeypatch.setattr(official_texts, "KNOWN_TEXTS", known)
    monkeypatch.setattr(official, "KNOWN_TEXTS", known)


def write_module(folder: Path, source: str, name: str = "evaluation.py") -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    return str(path)


BOTH = (
    f'raise SystemExit("imported")\nGRADER_TEMPLATE = """\n{TEXT}\n""".strip()\nVERIFIED: str = """{OTHER}"""\nx = 1\n'
)


def zipped(source: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("package/inner/evaluation.py", source)
        archive.writestr("package/data.bin", b"\xff\xfe CORRECT")
    return buffer.getvalue()


def tarred(source: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("package-1.0/evaluation.py")
        entry.size = len(source.encode())
        archive.addfile(entry, io.BytesIO(source.encode()))
    return buffer.getvalue()


def test_python_source_is_read_without_being_run(tmp_path: Path) -> None:
    found = extract_official("simpleqa", write_module(tmp_path, BOTH))
    assert (found.kind, found.text, found.name) == ("simpleqa", TEXT, "a plain grader")
    assert found.digest == hashlib.sha256(TEXT.encode()).hexdigest()
    assert (found.characters, found.words) == (len(TEXT), len(TEXT.split()))
    assert found.where.endswith("evaluation.py:GRADER_TEMPLATE")
    assert extract_official("simpleqa_verified", write_module(tmp_path, BOTH)).name == "a grader of ranges"


def test_a_folder_a_wheel_a_source_archive_and_a_text_file(tmp_path: Path) -> None:
    write_module(tmp_path / "tree", BOTH, "deep/er/evaluation.py")
    (tmp_path / "some-1.0-py3-none-any.whl").write_bytes(zipped(BOTH))
    (tmp_path / "some-1.0.tar.gz").write_bytes(tarred(BOTH))
    (tmp_path / "grader.txt").write_text(f"\n{TEXT}\n\n", encoding="utf-8")
    for name in ("tree", "some-1.0-py3-none-any.whl", "some-1.0.tar.gz", "grader.txt"):
        assert extract_official("simpleqa", str(tmp_path / name)).text == TEXT


def test_an_installed_package_is_read_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_module(tmp_path, "raise SystemExit('imported')", "a_grading_package/__init__.py")
    write_module(tmp_path, BOTH, "a_grading_package/evals/simple.py")
    write_module(tmp_path, BOTH, "a_grading_module.py")
    write_module(
        tmp_path, "Metadata-Version: 2.1\nName: a-grading-dist\nVersion: 1\n", "a_grading_dist-1.dist-info/METADATA"
    )
    write_module(tmp_path, "a_grading_package/evals/simple.py,,\ngone.py,,\n", "a_grading_dist-1.dist-info/RECORD")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("a_grading_package", "a_grading_module", "a-grading-dist"):
        assert extract_official("simpleqa", name).text == TEXT


def test_an_address_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = {"https://example.org/a/evaluation.py?raw=1": BOTH.encode(), "https://example.org/x.whl": zipped(BOTH)}
    monkeypatch.setattr(template_source, "_download", served.__getitem__)
    for address in served:
        assert extract_official("simpleqa", address).text == TEXT


def test_an_unreachable_address_is_an_error() -> None:
    with pytest.raises(PromptError, match="cannot be fetched"):
        extract_official("simpleqa", "http://127.0.0.1:9/grader.txt")


@pytest.mark.parametrize(
    "source",
    [
        "T = {part1!r} + {part2!r}",
        "HEAD = {part1!r}\nT = HEAD + {part2!r}",
        "import textwrap\nT = textwrap.dedent({padded!r}).strip()",
        "class Grader:\n    def __init__(self) -> None:\n        template = {whole!r}",
        "T = {template!r}\nINSTRUCTIONS = {letters!r}\nTOOL_INSTRUCTIONS = 'CORRECT, INCORRECT or NOT_ATTEMPTED'",
    ],
)
def test_the_ways_in_which_a_template_is_put_together(tmp_path: Path, source: str) -> None:
    letters = TEXT[TEXT.index("A: CORRECT") :]
    python = source.format(
        part1=TEXT[:90], part2=TEXT[90:], whole=TEXT, letters=letters, template=TEXT.replace(letters, "{instructions}"),
        padded="\n".join(f"    {line}" for line in TEXT.splitlines()),
    )  # fmt: skip
    assert extract_official("simpleqa", write_module(tmp_path, python)).text == TEXT


def test_other_white_space_is_said_and_other_placeholders_are_understood(tmp_path: Path) -> None:
    spaced = TEXT.replace("\n", "\r\n  ").replace("{target}", "{criterion}").replace("{predicted_answer}", "{answer}")
    found = extract_official("simpleqa", write_module(tmp_path, spaced, "grader.txt"))
    assert found.name == "a plain grader, in other white space"
    assert found.digest != digest_of(TEXT)
    assert "$reference" in as_grader_prompt(found).text


def test_an_unknown_text_is_never_called_official(tmp_path: Path) -> None:
    changed = TEXT.replace("$5", "$6")
    with pytest.raises(PromptError) as caught:
        extract_official("simpleqa", write_module(tmp_path, changed, "grader.txt"))
    message = str(caught.value)
    assert digest_of(changed) in message
    assert digest_of(TEXT)[:8] in message
    assert "unknown" in message
    assert "\n" not in message


def test_the_text_of_the_other_rubric_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"a grader of ranges.*expected a published simpleqa text"):
        extract_official("simpleqa", write_module(tmp_path, OTHER, "grader.txt"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.py", b""), ("not_python.py", b"CORRECT INCORRECT NOT_ATTEMPTED ((("), ("prose.txt", b"nothing to see"),
        ("bytes.txt", b"\xff\xfe\x00"), ("names_only.py", b"T = 'CORRECT INCORRECT NOT_ATTEMPTED {question}'"),
        ("computed.py", b"T = f'CORRECT INCORRECT NOT_ATTEMPTED {question} {target} {answer}'"),
        ("numbers.py", b"T = 5\nU, V = 1, 2\nW: int = 3\nX: int\n# CORRECT INCORRECT NOT_ATTEMPTED"),
    ],
)  # fmt: skip
def test_a_source_without_a_template_is_an_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PromptError, match=f"{name}: no grader template"):
        extract_official("simpleqa", str(tmp_path / name))


def test_a_source_that_is_not_there_or_broken_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "broken.whl").write_bytes(b"PK but no archive")
    (tmp_path / "broken.tar.gz").write_bytes(b"no archive either")
    for name in ("broken.whl", "broken.tar.gz"):
        with pytest.raises(PromptError, match="not a readable archive"):
            extract_official("simpleqa", str(tmp_path / name))
    for name in ("no-such-package", "no.such.module", "", "x" * 5000, "nul\0byte"):
        with pytest.raises(PromptError):
            extract_official("simpleqa", name)


def test_an_unknown_kind_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="kind 'simple'"):
        extract_official("simple", str(tmp_path))  # type: ignore[arg-type]


def test_the_prompt_renders_the_text_word_for_word(tmp_path: Path) -> None:
    found = extract_official("simpleqa", write_module(tmp_path, TEXT, "grader.txt"))
    prompt = as_grader_prompt(found)
    assert (prompt.name, prompt.rubric, prompt.channel) == ("official_simpleqa", "simpleqa@1.0.0", "letter")
    assert prompt.version == f"0.0.0+{found.digest[:8]}"
    assert prompt.scale == SIMPLEQA
    item = Item("1", "Who {x} $question?", Reference("Ann", "Ann"), "$reference {target}", "q1")
    expected = TEXT.format(question="Who {x} $question?", target="Ann", predicted_answer="$reference {target}")
    assert prompt.render(item) == expected
    assert "in a {set}" in expected
    assert Template(prompt.text).get_identifiers() == ["question", "reference", "response"]


@pytest.mark.parametrize("addition", ["{instructions}", "{question!r}", "{target:>5}", "{0}", "{", "}"])
def test_a_placeholder_that_nothing_fills_is_an_error(addition: str) -> None:
    text = TEXT + addition
    stranger = official.OfficialText("simpleqa", text, digest_of(text), "odd", len(text), len(text.split()))
    with pytest.raises(PromptError, match=r"^odd: "):
        as_grader_prompt(stranger)


def test_known_digests_are_whole_and_different() -> None:
    assert len({known.digest for known in KNOWN_TEXTS}) == len(KNOWN_TEXTS) == 6
    for known in KNOWN_TEXTS:
        assert len(bytes.fromhex(known.digest)) == len(bytes.fromhex(known.squeezed)) == 32
    kinds_of_squeezed = {known.squeezed: known.kind for known in KNOWN_TEXTS}
    assert all(kinds_of_squeezed[known.squeezed] == known.kind for known in KNOWN_TEXTS)
    assert find_known("no such text") is None


REAL = (
    ("simpleqa", "nvidia_simple_evals-26.3", "063c04ea", 5_964, 963),
    ("simpleqa", "inspect_evals-0.5.2", "4bfbea8a", 5_960, 963),
    ("simpleqa", "inspect_evals-0.28.0", "fb8044b1", 5_950, 963),
    ("simpleqa_verified", "inspect_evals-0.5.2", "a68d2e13", 6_898, 1_127),
    ("simpleqa_verified", "inspect_evals-0.28.0", "1e6a50dc", 6_893, 1_127),
)


@pytest.mark.parametrize(("kind", "wheel", "digest", "characters", "words"), REAL)
def test_real_packages(
    monkeypatch: pytest.MonkeyPatch, kind: official.OfficialKind, wheel: str, digest: str, characters: int, words: int
) -> None:
    folder = Path(os.environ.get("AUTORATER_OFFICIAL_WHEELS", "official-wheels-not-given"))
    path = next(iter(folder.rglob(f"{wheel}-*.whl")), None)
    if path is None:
        name, _, version = wheel.replace("_", "-").rpartition("-")
        pytest.skip(
            f"SKIPPED, NOT PASSED: no {wheel} wheel; `pip download --no-deps {name}=={version}` and set "
            "AUTORATER_OFFICIAL_WHEELS to its folder"
        )
    monkeypatch.setattr(official_texts, "KNOWN_TEXTS", KNOWN_TEXTS)
    found = extract_official(kind, str(path))
    assert (found.digest[:8], found.characters, found.words) == (digest, characters, words)
    prompt = as_grader_prompt(found)
    assert Template(prompt.text).get_identifiers() == ["question", "reference", "response"]
    filled = Template(prompt.text).substitute(question="Q", reference="R", response="P")
    assert len(filled) == characters - sum(map(len, ("{question}", "{target}", "{predicted_answer}"))) + 3 or (
        "{criterion}" in found.text
    )
