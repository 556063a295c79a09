"""Reports of simple-evals: the ``.html`` page, or the ``_allresults.json`` that holds the same pages.

Each example is an item: the prompt conversation the question, the sampled message the response, the correct answer
the reference. Neither file holds a grader's reply, and a score of 0 does not tell a wrong answer from one that was
not attempted, or from a grader that could not be read: the score stays in the item's metadata, and is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import ImportedAnswer
from experiments.importers.source_files import read_document, read_whole, refuse_kind

__all__ = ["SimpleEvalsReader"]

_EXPECTED = "a report of simple-evals (.html, or _allresults.json)"
_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True)
class SimpleEvalsReader:
    """Reads reports; ``respondent`` names the model that answered, which no report tells."""

    respondent: str

    def __call__(self, files: Sequence[Path], account: ImportAccount) -> Iterator[ImportedAnswer]:
        """Every example with a correct answer.

        Raises
        ------
        ImportFileError
            If a file is no report, or holds metrics alone.
        """
        account.note("simple-evals", "its scores are no grader's replies: kept in the items' metadata alone")
        for path in files:
            for number, example in enumerate(_examples(path), start=1):
                account.n_read += 1
                where = f"{path.name}: example {number}"
                if not example.is_whole:
                    account.leave_out(where, "an example without a sampled message or a correct answer")
                    continue
                yield self._build(where, number, example)

    def _build(self, where: str, number: int, example: _Example) -> ImportedAnswer:
        said = example.prompt
        question = said[0][1] if len(said) == 1 else "\n\n".join(f"{role}: {text}" for role, text in said)
        return ImportedAnswer(
            where=where,
            item_id=f"{self.respondent}/{number}",
            question=question,
            reference=example.results.get("Correct Answer", ""),
            response=example.sampled[0][1],
            respondent=self.respondent,
            metadata={"simple_evals": {"score": example.results.get("Score", "")}},
        )


@dataclass
class _Example:
    """One example of a report: messages as role and text, and the results by their name."""

    prompt: list[tuple[str, str]] = field(default_factory=list)
    sampled: list[tuple[str, str]] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        return bool(self.prompt and self.sampled and self.results.get("Correct Answer", "").strip())


def _examples(path: Path) -> Iterator[_Example]:
    if path.suffix == ".json":
        document = read_document(path, _EXPECTED)
        pages = document.get("htmls")
        if not isinstance(pages, list) or not all(isinstance(page, str) for page in pages):
            if "task_name" in document or "score" in document:
                raise ImportFileError(f"{path.name}: metrics alone; expected {_EXPECTED}")
            raise refuse_kind(path.name, document, _EXPECTED)
        for page in pages:
            yield from _read_pages([page])
        return
    text = read_whole(path).decode("utf-8", errors="replace")
    if "<h3>Prompt conversation</h3>" not in text:
        raise ImportFileError(f"{path.name}: no example of simple-evals in it; expected {_EXPECTED}")
    yield from _read_pages(text[at : at + _AT_A_TIME] for at in range(0, len(text), _AT_A_TIME))


def _read_pages(pieces: Sequence[str] | Iterator[str]) -> Iterator[_Example]:
    reader = _PageReader()
    for piece in pieces:
        reader.feed(piece)
        yield from reader.take()
    reader.close()
    yield from reader.take(all_of_them=True)


class _PageReader(HTMLParser):
    """Reads what the report's template writes: a heading a section, a ``pre`` a message, a ``p`` a result."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._done: list[_Example] = []
        self._example: _Example | None = None
        self._section = ""
        self._role = ""
        self._text: list[str] | None = None

    def take(self, *, all_of_them: bool = False) -> list[_Example]:
        """The examples that are complete."""
        if all_of_them and self._example is not None:
            self._done.append(self._example)
            self._example = None
        done, self._done = self._done, []
        return done

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A text begins, or a message says whose it is."""
        words = (dict(attrs).get("class") or "").split()
        if tag == "div" and words[:1] == ["message"]:
            self._role = " ".join(words[1:])
        if tag in ("h3", "h4", "pre", "p"):
            self._text = []

    def handle_data(self, data: str) -> None:
        """Text, in pieces."""
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        """A text has ended."""
        if self._text is None or tag not in ("h3", "h4", "pre", "p"):
            return
        text, self._text = "".join(self._text), None
        if tag == "h3":
            self._begin_section(text.strip())
        elif tag == "h4":
            self._section = ""
        elif self._example is not None:
            self._add(tag, text)

    def _begin_section(self, title: str) -> None:
        if title == "Prompt conversation":
            if self._example is not None:
                self._done.append(self._example)
            self._example = _Example()
        self._section = title

    def _add(self, tag: str, text: str) -> None:
        assert self._example is not None
        if tag == "pre" and self._section == "Prompt conversation":
            self._example.prompt.append((self._role, text))
        elif tag == "pre" and self._section == "Sampled message":
            self._example.sampled.append((self._role, text))
        elif tag == "p" and self._section == "Results":
            name, colon, value = text.partition(": ")
            if colon:
                self._example.results.setdefault(name, value)
