"""The statistics on answers that people labelled: the tables of docs/real_data.md.

    python benchmarks/real_data.py FOLDER [--splits 500] [--out docs/real_data.md]

FOLDER holds ``nq301``, ``evouna_tq`` and ``judging_judges_v1``, each as its authors published it; CONTRIBUTING.md says
where they come from. Nothing is fetched, and everything is seeded.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibration_sets.importers import Imported, import_evouna, import_nq301
from experiments.stats import Estimate
from experiments.stats.comparisons import PairedComparison, adjust_p_values, best_set, compare_all, pareto_front
from experiments.stats.correction import GradedItems, LabelledItems, correct_scores
from experiments.stats.errors import false_negative_rate, false_positive_rate
from experiments.stats.raters import grader_beside_people, human_agreement, human_ceiling
from graders.providers.baseline import grade_lexically

SEED, LEVEL = 20261130, 0.95
LABELS = ("INCORRECT", "CORRECT")
HEAD = """# The statistics on real labels

Made by `python benchmarks/real_data.py FOLDER`; every figure is computed from published labels of people, seed {seed}.
Intervals are 95% and clustered by question. FN: false negatives among what people called correct; FP: false positives
among the rest.
"""


@dataclass(frozen=True)
class Judged:
    """Items with people's label, the question of each, and each grader's label or ``None``."""

    reference: Sequence[str]
    clusters: Sequence[str]
    graders: dict[str, Sequence[str | None]]

    def counts(self, grader: str) -> np.ndarray:
        given = self.graders[grader]
        return np.array([[int(label == name) for name in LABELS] for label in given])

    def errors(self) -> np.ndarray:
        """(n, K) 1 where a grader is wrong, NaN where it has no verdict."""
        columns = [
            [
                np.nan if said is None else float(said != right)
                for said, right in zip(given, self.reference, strict=True)
            ]
            for given in self.graders.values()
        ]
        return np.column_stack(columns)


def shown(estimate: Estimate, *, percent: bool = True) -> str:
    if estimate.value is None:
        return "not defined"
    scale, digits = (100, 1) if percent else (1, 3)
    value, low, high = (f"{scale * (one or 0.0):.{digits}f}" for one in (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def rates(judged: Judged, grader: str) -> tuple[Estimate, Estimate]:
    given = (judged.reference, judged.counts(grader), judged.clusters)
    return (
        false_negative_rate(*given, labels=LABELS, positive="CORRECT"),
        false_positive_rate(*given, labels=LABELS, positive="CORRECT"),
    )


def rate_rows(judged: Judged) -> Iterator[Sequence[str]]:
    for grader in judged.graders:
        yield (grader, *map(shown, rates(judged, grader)))


def compared(judged: Judged) -> tuple[PairedComparison, ...]:
    return compare_all(
        judged.errors(), judged.clusters, names=list(judged.graders), rng=np.random.default_rng(SEED), level=LEVEL
    )


def comparison_rows(pairs: Sequence[PairedComparison]) -> Iterator[Sequence[str]]:
    adjusted = adjust_p_values([pair.difference.p_value for pair in pairs])
    for pair, row in zip(pairs, adjusted.rows, strict=True):
        assert row.p_value is not None and row.adjusted is not None
        yield (
            f"{pair.first} - {pair.second}",
            shown(pair.difference.estimate),
            f"{row.p_value:.4f}",
            f"{row.adjusted:.4f}",
            "yes" if row.significant else "no",
        )


def read_nq301(imported: Imported) -> tuple[Judged, dict[str, Sequence[str | None]]]:
    judged = imported.calibration_set
    agreed = judged.consensus().labels
    items = [item for item in judged.items if item.item_id in agreed]
    verdicts = {(verdict.grader, verdict.item_id): verdict.label for verdict in imported.verdicts}
    given = {(label.rater, label.item_id): label.label for label in judged.human_labels}
    graders = sorted({grader for grader, _ in verdicts})
    raters = sorted({rater for rater, _ in given})
    people = {rater: [given.get((rater, item.item_id)) for item in items] for rater in raters}
    return (
        Judged(
            [agreed[item.item_id] for item in items],
            [item.cluster_id for item in items],
            {grader: [verdicts.get((grader, item.item_id)) for item in items] for grader in graders},
        ),
        people,
    )


def nq301(folder: Path) -> str:
    judged, people = read_nq301(import_nq301(folder))
    ratings, rng = list(people.values()), np.random.default_rng(SEED)
    agreed = human_agreement(ratings, judged.clusters, labels=LABELS, scale_level="nominal", rng=rng, level=LEVEL)
    ceiling = human_ceiling(
        ratings, judged.clusters, labels=LABELS, positive="CORRECT", scale_level="nominal", rng=rng, level=LEVEL
    )
    names = list(people)
    person_rows = (
        (
            names[row.rater],
            f"{row.agreement.raw.n:,}",
            *map(shown, (row.agreement.raw, row.false_negative_rate, row.false_positive_rate)),
        )
        for row in ceiling.raters
    )
    return f"""## NQ301: {len(judged.reference):,} answers, two people and a third on some, three graders

Pairs of people agree on {shown(agreed.pairwise_raw)}% of the items, alpha {shown(agreed.alpha, percent=False)}. The
human ceiling: each person held to the majority of the others, by the measures that a grader is held to.

{table(("person", "items", "agreement, %", "FN, %", "FP, %"), person_rows)}

All people together: FN {shown(ceiling.false_negative_rate)}%, FP {shown(ceiling.false_positive_rate)}%. Each grader
less people, on the same items against the same other people, in points:

{table(("grader", "agreement", "FN", "FP"), beside_people(judged, ratings))}

Graders against the majority of all people:

{table(("grader", "FN, %", "FP, %"), rate_rows(judged))}

Differences of the share of wrong verdicts, in points, sign-flip test by question, Holm over the three:

{table(("difference", "points", "p", "p, Holm", "real"), comparison_rows(compared(judged)))}
"""


def beside_people(judged: Judged, ratings: Sequence[Sequence[str | None]]) -> Iterator[Sequence[str]]:
    for grader in judged.graders:
        found = grader_beside_people(
            ratings, judged.counts(grader), judged.clusters, labels=LABELS, positive="CORRECT", level=LEVEL
        )
        each = (found.raw, found.false_negative_rate, found.false_positive_rate)
        yield (grader, *(shown(one.estimate) for one in each))


def read_judges(path: Path) -> Judged:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["label"] in LABELS]
    names = sorted(rows[0]["graders"])
    return Judged(
        [row["label"] for row in rows],
        [row["question"] for row in rows],
        {name: [known(row["graders"].get(name)) for row in rows] for name in names},
    )


def known(label: str | None) -> str | None:
    return label if label in LABELS else None


def judges(folder: Path) -> str:
    judged = read_judges(folder / "judging_judges_v1_labels.jsonl")
    pairs = compared(judged)
    family = adjust_p_values([pair.difference.p_value for pair in pairs])
    n_real = sum(bool(row.significant) for row in family.rows)
    undecided = [pair for pair, row in zip(pairs, family.rows, strict=True) if not row.significant]
    same = "; ".join(f"{pair.first} and {pair.second}" for pair in undecided) or "none"
    best = best_set(
        judged.errors(), judged.clusters, names=list(judged.graders), rng=np.random.default_rng(SEED), level=LEVEL
    )
    fronted = [rates(judged, grader) for grader in judged.graders]
    front = pareto_front(
        {"FN": [one.value for one, _ in fronted], "FP": [two.value for _, two in fronted]}, names=list(judged.graders)
    )
    ranked = sorted(best.graders, key=lambda one: one.mean)
    rows = (
        (
            one.name,
            f"{100 * one.mean:.1f}",
            *map(shown, rates(judged, one.name)),
            "yes" if one.in_set else f"no, p = {one.p_value:.4f}",
            "yes" if one.name in front.front else "",
        )
        for one in ranked
    )
    return f"""## Judging the Judges: eleven graders on the same {len(judged.reference):,} answers

{table(("grader", "wrong, %", "FN, %", "FP, %", "may be the best", "on the FN-FP front"), rows)}

The set not distinguishable from the best ({best.method}, level {best.level:.0%}, {best.n:,} items in {best.clusters:,}
questions): {", ".join(best.members)}. Of {len(pairs)} pairs {n_real} differ after Holm (sign-flip tests by question).
Not told apart: {same}. No costs were published with these verdicts, so the front is that of the two error rates.
"""


@dataclass
class Splits:
    """Item indices by system, and everything a split needs as arrays."""

    systems: np.ndarray
    questions: np.ndarray
    truth: np.ndarray
    verdict: np.ndarray


def read_evouna(path: Path) -> Splits:
    judged = import_evouna(path).calibration_set
    items, right = judged.items, judged.consensus().labels
    codes = {name: number for number, name in enumerate(dict.fromkeys(item.cluster_id for item in items))}
    return Splits(
        np.array([item.respondent for item in items]),
        np.array([codes[item.cluster_id] for item in items]),
        np.array([right[item.item_id] == "CORRECT" for item in items]),
        np.array([grade_lexically(item, judged.scale) == "CORRECT" for item in items]),
    )


@dataclass
class Tally:
    """How often an interval held the true score, and its mean error and width, in points."""

    held: int = 0
    tried: int = 0
    not_corrected: int = 0
    error: float = 0.0
    width: float = 0.0

    def add(self, estimate: Estimate, truth: float) -> None:
        assert estimate.value is not None and estimate.low is not None and estimate.high is not None
        self.tried += 1
        self.held += estimate.low <= truth <= estimate.high
        self.error += 100 * (estimate.value - truth)
        self.width += 100 * (estimate.high - estimate.low)

    def cells(self) -> tuple[str, ...]:
        n = max(self.tried, 1)
        refused = f", {self.not_corrected} not corrected" if self.not_corrected else ""
        return f"{self.held} of {self.tried}{refused}", f"{self.error / n:+.2f}", f"{self.width / n:.1f}"


def counted(verdict: np.ndarray) -> np.ndarray:
    return np.column_stack([~verdict, verdict]).astype(int)


def evouna(folder: Path, n_splits: int) -> str:
    data = read_evouna(folder / "TQ.json")
    names = sorted(set(data.systems))
    kinds = ("uncorrected", "own error rates", "error rates of the other systems")
    tallies = {(name, kind): Tally() for name in names for kind in kinds}
    rng = np.random.default_rng(SEED)
    n_questions = int(data.questions.max()) + 1
    for _ in range(n_splits):
        labelled = np.zeros(n_questions, dtype=bool)
        labelled[rng.permutation(n_questions)[: n_questions // 5]] = True
        known_items = labelled[data.questions]
        for name in names:
            try_split(data, name, known_items, {kind: tallies[name, kind] for kind in kinds})
    rows = (
        (name, f"{100 * data.truth[data.systems == name].mean():.1f}", kind, *tallies[name, kind].cells())
        for name in names
        for kind in kinds
    )
    head = ("system", "people, %", "estimate", "95% interval holds it", "mean error, points", "mean width, points")
    return f"""## EVOUNA-TQ: a correction tried for real

People's labels on four in five of {n_questions:,} questions are hidden; a grader (`baseline/lexical`) judges all. Each
system's share of right answers on the hidden questions is estimated from the grader's verdicts there, uncorrected, and
corrected (matrix inversion, delta method) with the error rates of the labelled fifth: of the system's own answers, or
of the other four systems' answers, which need not carry over. The interval is held against what people said of the
hidden answers, over {n_splits} random splits. "Not corrected" counts splits whose labelled fifth does not identify the
error rates: there the package says so and gives no corrected score.

{table(head, rows)}

The hidden questions themselves are the target here, while the intervals also carry the luck of drawing questions: with
the system's own error rates they should hold it more often than 95% of the time.
"""


def try_split(data: Splits, name: str, labelled: np.ndarray, tallies: dict[str, Tally]) -> None:
    own = data.systems == name
    hidden = own & ~labelled
    truth = float(data.truth[hidden].mean())
    graded = GradedItems(counted(data.verdict[hidden]), data.questions[hidden].tolist())
    for kind, rows in (("own error rates", own & labelled), ("error rates of the other systems", ~own & labelled)):
        reference = [LABELS[int(right)] for right in data.truth[rows]]
        sample = LabelledItems(reference, counted(data.verdict[rows]), data.questions[rows].tolist())
        found = correct_scores(graded, sample, labels=LABELS, correct="CORRECT", not_attempted=None, level=LEVEL)
        if kind == "own error rates":
            tallies["uncorrected"].add(found.uncorrected["correct"], truth)
        if found.corrected is None:
            tallies[kind].not_corrected += 1
        else:
            tallies[kind].add(found.corrected["correct"], truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=500)
    parser.add_argument("--out", type=Path, help="default: standard output")
    options = parser.parse_args()
    page = "\n".join(
        [
            HEAD.format(seed=SEED),
            nq301(options.folder / "nq301"),
            judges(options.folder / "judging_judges_v1"),
            evouna(options.folder / "evouna_tq", options.splits),
        ]
    )
    if options.out is None:
        print(page)
    else:
        options.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
