"""``docs/worlds.md``: what was promised, how often it was kept, and what a reader without the care would have got."""

from __future__ import annotations

from collections.abc import Sequence

from worlds.choice_section import buys_choices, choice_section
from worlds.draws import ANSWERS_A_QUESTION, CALIBRATION_QUESTIONS, QUESTIONS, REPEATS
from worlds.population import LIMIT, MARGIN, N_GRADERS, N_MODELS, N_WORDINGS
from worlds.score_section import buys_scores, score_section
from worlds.tallies import Tally, percent
from worlds.trials import WorldTrials
from worlds.wording_section import buys_wordings, wording_section

__all__ = ["render_page"]

TEMPLATE = """\
# Worlds: how often the decisions are wrong

In {n} simulated worlds everything is known: the true scores of {models} models under {wordings} answer wordings, and
the true error rates of {graders} graders. What `autorater ab`, `choose` and `score` decide there is held against that
truth, and so is what a reader of the same tables would decide without their care. All of this file is written by

    {command}

with seed {seed}, and the same command writes the same file.

## A world

- **Models and questions.** {models} models answer {questions:,} questions under each of {wordings} wordings, once.
  Questions are hard or easy for all models, and for one model in its own way; the wordings of a model share most of
  its luck with a question. True scores are over all questions that there could be; the {questions:,} are a sample.
- **Wordings.** In every second world none of the nine deserves to be adopted, and most are as close to it as can be:
  they raise accuracy by exactly 0 while accuracy given attempted rises, or raise accuracy by 3 points while accuracy
  given attempted falls by exactly the margin, {margin}. In the others two deserve it, and the rest are of that kind.
- **The judge** of the benchmark gives one verdict an answer. It errs by class of answer; errors cluster by question
  and by answer, so that repeats would err alike. In every second pair of worlds it is lenient: it passes 8% of the
  answers that are not right, most of them wrong ones, and refuses 6% of the right ones. Else these are 2% and 5%.
- **Calibration.** People labelled {labelled:,} answers to {calibration:,} other questions, {a_question} a question.
  The judge and {graders} other graders gave {repeats} verdicts on each. The judge's error rates carry over to the
  benchmark, as a correction assumes.
- **Graders.** One is the best of those whose false positives keep a limit of {limit}; half the time it lies exactly on
  it. Five are nearly as good, three miss fewer right answers but break the limit by a hair, three are poor. They tend
  to err on the same answers.

The decisions come from the commands' own functions (`compare_wordings`, `apply_rule`, `score_benchmark`), on plain
data. The bounds are 95% intervals: Clopper and Pearson's for events of a world, clustered by world where a world gives
several numbers. A promise "holds" where what was found does not speak against it, that is, where the bounds reach
what is promised.

{sections}
## In short

{summary}

What the care buys:

{buys}
"""


def render_page(trials: Sequence[WorldTrials], *, seed: int) -> str:
    """The whole document."""
    choices = [one for world in trials for one in world.choices]
    parts = [wording_section(trials), choice_section(choices), score_section(trials)]
    buys = [*buys_wordings(trials), *buys_choices(choices), *buys_scores(trials)]
    suffix = f" --seed {seed}" if seed != 1 else ""
    return TEMPLATE.format(
        n=len(trials),
        command=f"python benchmarks/worlds.py --worlds {len(trials)} --out docs/worlds.md{suffix}",
        seed=seed,
        models=N_MODELS,
        wordings=N_WORDINGS,
        graders=N_GRADERS,
        questions=QUESTIONS,
        margin=percent(MARGIN),
        limit=percent(LIMIT),
        labelled=CALIBRATION_QUESTIONS * ANSWERS_A_QUESTION,
        calibration=CALIBRATION_QUESTIONS,
        a_question=ANSWERS_A_QUESTION,
        repeats=REPEATS,
        sections="\n".join(text for text, _ in parts),
        summary=_summary([tally for _, claims in parts for tally in claims]),
        buys="\n".join(f"- {line}" for line in buys),
    )


def _summary(claims: Sequence[Tally]) -> str:
    lines = [f"- {one.sentence}" for one in claims]
    failed = [one for one in claims if not one.holds]
    verdict = (
        f"All {len(claims)} promises hold in these worlds."
        if not failed
        else f"{len(failed)} of {len(claims)} promises are not kept in these worlds: "
        + "; ".join(one.name for one in failed)
        + "."
    )
    return "\n".join([*lines, "", verdict])
