"""``autorater regimes``: what models lose without concepts, among documents, and among distractors."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.analyses.regimes.comparing import compare_regimes
from experiments.analyses.regimes.regimes_page import regimes_document, regimes_fields
from experiments.commands.options import DEFAULT_STORE, StoreOption
from experiments.commands.page_output import PageFormat, PageFormatOption, PageOutOption, write_page
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

__all__ = ["regimes"]


def regimes(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or enough of its beginning.")],
    grader: Annotated[str | None, typer.Option("--grader", help="Of several graders: whose verdicts to use.")] = None,
    store: StoreOption = DEFAULT_STORE,
    output_format: PageFormatOption = PageFormat.text,
    out: PageOutOption = None,
) -> None:
    """Compare a run's regimes, from the store alone: bare question, concepts, related documents, full set.

    Questions are asked and answers graded by autorater run, with its --dry-run, --max-cost and --batch; a run that
    was stopped continues. Mean scores by model and regime, knowledge, retrieval and noise losses paired by question,
    and scores by the number of distractors, concepts and steps, with slopes. The page ends in what is shown and what
    is not. Scores are as graded; answers and verdicts that are missing are counted, bounded, and never a score.

    \b
    Examples:
      autorater run my_regimes.toml --dry-run
      autorater run my_regimes.toml --max-cost 20
      autorater regimes my_regimes
      autorater regimes my_regimes --format json --out regimes.json

    \b
    An experiment:
      name = "my_regimes"
      set = "questions"                    # a folder, as docs/regimes.md describes it
      [regimes]                            # all four regimes, each question twice
      documents = "text"                   # in the prompt; "tool": opened one at a time
      [[regimes.models]]
      model = "openai/gpt-4.1-2025-04-14"
      [[graders]]
      prompt = "der2_rubric@1.0.0"
      model = "openai/gpt-4.1-2025-04-14"
      sampling = { temperature = 0.0, repeats = 1 }
    """
    with RunStore(store, must_exist=True) as opened:
        data, analyses = load_run_data(opened, run)
    found = compare_regimes(data, grader, level=analyses.level)
    write_page(regimes_document(found), regimes_fields(found), output_format, out)
