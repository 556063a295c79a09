"""``autorater curate sources``: what the sources of questions answer, as a model reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.curation.question_file import load_questions
from calibration_sets.curation.source_reading import (
    SourceAsked,
    SourceReading,
    list_sources,
    load_source_prompts,
    read_sources,
    reading_data,
)
from calibration_sets.curation.source_texts import SourceTexts, read_source_texts
from calibration_sets.question import Question
from calibration_sets.writer import write_lines
from experiments.commands.curate_cost import (
    BaseUrlOption,
    KeyVariableOption,
    MaxCostOption,
    MaxTokensOption,
    PriceOption,
    open_judge,
    replies_beside,
)
from experiments.errors import SpecError
from experiments.regimes.material import cut_middle

__all__ = ["sources"]


def sources(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Questions: a benchmark's CSV, or JSON lines.")],
    model: Annotated[str, typer.Option("--model", help="provider/name, such as openai/gpt-4.1-mini.")],
    to: Annotated[Path, typer.Option("--to", help="JSON lines for the answers, to be given as --source-answers.")],
    texts: Annotated[
        Path | None,
        typer.Option("--texts", help="What sources say: a table with url and text, or a folder of .txt files."),
    ] = None,
    without_text: Annotated[
        bool, typer.Option("--without-text", help="Ask for a source without text by its address, and record that.")
    ] = False,
    max_characters: Annotated[
        int, typer.Option("--max-characters", min=100, help="Of a source's text; a longer one is cut in the middle.")
    ] = 30_000,
    base_url: BaseUrlOption = None,
    key_variable: KeyVariableOption = None,
    max_tokens: MaxTokensOption = 1024,
    max_cost: MaxCostOption = None,
    price: PriceOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be asked, and stop.")] = False,
) -> None:
    """Ask a model what each source of each question answers, by a versioned prompt that never shows the reference.

    The model reads the source's text. A source without text is counted and not asked for, unless --without-text is
    given. Replies are kept beside the file (.replies.jsonl), so each is paid for once.

    A file of the folder is named by its address without a slash: en.wikipedia.org%2Fwiki%2FElbe.txt

    \b
    Examples:
      autorater curate sources curated/5_balance/kept.jsonl --texts pages.jsonl --model openai/gpt-4.1-mini \\
          --to answers.jsonl --max-cost 2
      autorater curate run simple_qa_test_set.csv --to curated --source-answers answers.jsonl
    """
    if texts is None and not without_text:
        raise SpecError("--texts: missing; expected the sources' texts, or --without-text")
    questions = load_questions(file)
    whole = SourceTexts() if texts is None else read_source_texts(texts)
    asked = list_sources(
        questions, whole.map(lambda text: cut_middle(text, most=max_characters)), without_text=without_text
    )
    if not asked:
        raise SpecError(f"{file.name}: no question names a source; expected addresses in urls")
    judge = open_judge(
        model,
        replies_beside(to),
        base_url=base_url,
        key_variable=key_variable,
        max_tokens=max_tokens,
        max_cost=max_cost,
        price=price,
    )
    for line in _describe(questions, asked, whole, max_characters=max_characters):
        typer.echo(line, err=True)
    judge.plan([one.prompt for one in asked if one.basis != "none"])
    if dry_run:
        return
    readings = read_sources(asked, judge)
    write_lines(to, reading_data(readings, model))
    for line in _sum_up(readings, model):
        typer.echo(line)


def _describe(
    questions: Sequence[Question], asked: Sequence[SourceAsked], texts: SourceTexts, *, max_characters: int
) -> Iterator[str]:
    """What is there to ask, before anything is asked."""
    n = Counter(one.basis for one in asked)
    blind = f"{n['address']} by their address alone, " if n["address"] else ""
    yield f"{len(asked)} sources of {len(questions)} questions: {n['text']} with text, {blind}{n['none']} not asked for"
    if n_bare := len(questions) - len({one.question_id for one in asked}):
        yield f"{n_bare} questions name no source"
    if n_strangers := texts.count_strangers(one.url for one in asked):
        yield f"{n_strangers} texts are of no source of these questions"
    cut = {one.url for one in asked if len(texts.find(one.url) or "") > max_characters}
    if cut:
        yield f"{len(cut)} texts are longer than {max_characters} characters, and cut in the middle"


def _sum_up(readings: Sequence[SourceReading], model: str) -> Iterator[str]:
    counts = Counter(one.outcome for one in readings)
    used = {one.asked.basis for one in readings}
    titles = [prompt.title for basis, prompt in load_source_prompts().items() if basis in used]
    yield f"{' '.join([*titles, model])}: {counts['answered']} of {len(readings)} sources answered"
    if n_remembered := sum(one.outcome == "answered" and one.asked.basis == "address" for one in readings):
        yield f"from memory, no text read: {n_remembered} of these"
    if counts["not stated"]:
        yield f"not stated: {counts['not stated']}"
    if counts["no text"]:
        yield f"no text, not asked for: {counts['no text']}"
    for reason, count in sorted(Counter(one.failure for one in readings if one.failure).items()):
        yield f"no answer: {count}, {reason}"
