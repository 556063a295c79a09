"""The sections of one grader."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from experiments.reports.call_times import times_text
from experiments.reports.document import Bars, Bullets, Paragraph, Section, Table
from experiments.reports.figures import (
    DASH,
    NOT_DEFINED,
    basis,
    bounds_text,
    brief,
    coefficient_text,
    count_text,
    listing,
    percent,
    rate_text,
    short_percent,
)
from experiments.reports.label_bias_pages import label_bias_section
from experiments.reports.label_words import LabelWords, label_words
from experiments.reports.listing_pages import inconsistent_section, range_section
from experiments.reports.parser_pages import parser_section
from experiments.reports.rubric_pages import rubric_sections, score_section
from experiments.reports.summary_rates import AGREEMENT_RATE, summary_rates
from graders.pricing import Cost

__all__ = ["build_grader_pages"]

Fields = Mapping[str, Any]

BASIS = ("items", "questions", "R", "coverage")
MOST_SETTINGS = 3


def build_grader_pages(grader: Fields, report: Fields) -> list[Section]:
    """All sections of one grader, in reading order; those without content are left out."""
    words, positive = label_words(report["set"]), report["set"]["scale"]["positive"]
    return [
        _identity(grader),
        *_errors(grader, words, positive),
        *rubric_sections(grader, words),
        _confusion(grader, words),
        _failures(grader),
        _repeats(grader),
        _agreement(grader, words),
        *_majority(grader),
        *label_bias_section(grader, words),
        *_parts("By kind", "kind", grader["by_kind"], positive),
        *_parts("Where people disagreed with each other", "people were", grader["by_dispute"], positive),
        *inconsistent_section(grader, words),
        *range_section(grader, report["range_check"], words),
        *parser_section(grader, words),
    ]


def _identity(grader: Fields) -> Section:
    labels = grader["labels"]
    points = (
        f"id {grader['grader_id']}, prompt {grader['prompt'] or 'none'}, rubric {grader['rubric']}",
        f"held against labels under {labels['rubric']}: {labels['n_labelled']:,} items labelled, "
        f"{labels['n_tied']:,} tied, {labels['n_unlabelled']:,} unlabelled, {labels['n_disputed']:,} disputed",
        f"asked: {_settings(grader['sampling'])}",
        *_in_force(grader["effective_sampling"]),
        f"served by: {listing(grader['served_models'])}",
        *_exactness(grader["exact"], grader["sampling"]),
        f"tokens: {_usage(grader['usage'])}",
        *_cost(grader),
        *_time(grader),
        f"{grader['n_verdicts']:,} valid verdicts of {grader['n_expected']:,} asked for "
        f"({grader['n_items']:,} items, R = {grader['n_repeats']}), coverage {percent(grader['coverage'])}",
    )
    return Section(f"Grader {grader['number']}: {grader['model']}", 2, (Bullets(points),))


def _settings(settings: Fields) -> str:
    known = (f"{name} {'not known' if value is None else value}" for name, value in sorted(settings.items()))
    return ", ".join(known) or "nothing"


def _in_force(effective: list[Fields]) -> Iterator[str]:
    if not effective:
        yield "in force: not known"
    for settings in effective[:MOST_SETTINGS]:
        yield f"in force: {_settings(settings)}"
    if len(effective) > MOST_SETTINGS:
        yield f"in force: {len(effective) - MOST_SETTINGS} further settings, in the JSON report"


def _usage(usage: Fields) -> str:
    def shown(count: int | None) -> str:
        return "not known" if count is None else f"{count:,}"

    cached, read = usage["cached_tokens"], usage["input_tokens"]
    share = f" ({percent(cached / read)} of input)" if cached and read else ""
    thought = f", reasoning {shown(usage['reasoning_tokens'])}" if usage["reasoning_tokens"] else ""
    return f"input {shown(read)}, output {shown(usage['output_tokens'])}, cached {shown(cached)}{share}{thought}"


def _exactness(exact: Fields | None, sampling: Fields) -> Iterator[str]:
    if exact is None:
        return
    outside = exact["outside_most"]
    bound = "not known" if outside is None else f"at most {percent(outside)} of an item's draws"
    yield (
        f"exact at temperature {float(sampling['temperature'])}, one call an item: what {exact['draws']} draws would "
        f"show is computed from the label log-probabilities; outside the labels: {bound}"
    )


def _cost(grader: Fields) -> Iterator[str]:
    cost, failed = grader["cost"], grader["failed_calls"]
    if cost is not None and (cost["dollars"] or not cost["complete"]):
        yield f"cost: {Cost(cost['dollars'], cost['complete'])}, failed calls included"
    if failed:
        yield f"calls that went wrong, whether or not a later one succeeded: {count_text(failed)}"


def _time(grader: Fields) -> Iterator[str]:
    if "time" in grader:
        yield f"time: {times_text(grader['time'])}"


def _errors(grader: Fields, words: LabelWords, positive: str | None) -> Iterator[Section]:
    """Errors of the sort that the scale has; on one without a right label and without numbers, agreement is all."""
    if grader.get("score_errors"):
        yield score_section(grader, words)
    elif positive is not None:
        yield _error_rates(grader, words)


def _error_rates(grader: Fields, words: LabelWords) -> Section:
    rows = tuple(
        (
            name,
            rate_text(grader[field], words.retold(grader["not_defined"].get(field))),
            *basis(grader[field]),
            percent(grader["rate_coverage"][field]),
            bounds_text(grader[f"{field}_bounds"]),
        )
        for field, name in (("false_negative_rate", "false negatives"), ("false_positive_rate", "false positives"))
    )
    columns = ("single-draw rate", "over valid verdicts", *BASIS, "missing right to wrong")
    note = (
        "The last column is what the rate would be with all missing verdicts right, and with all of them wrong; "
        f"a dash: none is missing. Interval: {grader['false_negative_rate']['method']}, by question."
    )
    return Section("Error rates", 3, (Table(columns, rows), Paragraph(note, once=True)))


def _confusion(grader: Fields, words: LabelWords) -> Section:
    matrix = grader["confusion"]
    counted = not grader["exact"]  # likeliest labels are no draws, and do not stand beside chances
    rows = tuple(_confusion_row(matrix, row, counted=counted) for row in range(len(matrix["labels"])))
    note = (
        f"{words.capital} in rows, the grader in columns: the mean chance of a label."
        if grader["exact"]
        else f"{words.capital} in rows, the grader in columns: the mean share of an item's valid verdicts, and in "
        "brackets the number of verdicts."
    )
    if any(None in rates for rates in matrix["rates"]):
        note = f"{note} A dash: no item of that label has a verdict."
    columns = (f"{words.giver} said", *matrix["labels"], "no verdict", "items")
    return Section("Confusion matrix", 3, (Table(columns, rows), Paragraph(note, once=True)))


def _confusion_row(matrix: Fields, row: int, *, counted: bool) -> tuple[str, ...]:
    cells = (
        DASH if rate is None else f"{percent(rate)} ({count:,})" if counted else percent(rate)
        for rate, count in zip(matrix["rates"][row], matrix["counts"][row], strict=True)
    )
    return (matrix["labels"][row], *cells, f"{matrix['n_missing'][row]:,}", f"{matrix['n_items'][row]:,}")


def _failures(grader: Fields) -> Section:
    if not grader["failures"]:
        text = f"None: all {grader['n_expected']:,} verdicts have a label."
        return Section("Failures", 3, (Paragraph(text),))
    rows = tuple(
        (reason, f"{count:,}", percent(count / grader["n_expected"])) for reason, count in grader["failures"].items()
    )
    table = Table(("reason", "verdicts", f"of {grader['n_expected']:,}"), rows)
    if not grader["not_answered"]:
        return Section("Failures", 3, (table,))
    calls = Paragraph(f"Calls without an answer, by their reason: {count_text(grader['not_answered'])}.")
    return Section("Failures", 3, (table, calls))


def _repeats(grader: Fields) -> Section:
    reasons, coverage = grader["not_defined"], percent(grader["coverage"])
    rows = tuple(
        (name, shown(grader[field], reasons.get(field)), *basis(grader[field]), coverage)
        for field, name, shown in (
            ("flip_rate", "flip rate", rate_text),
            ("pairwise_disagreement", "pairwise disagreement", rate_text),
            ("alpha_repeats", "alpha over repeats", coefficient_text),
        )
    )
    table = Table(("consistency", "all items", *BASIS), rows)
    return Section("Repeats", 3, (table, *(() if grader["exact"] else _consistent(grader["flip_rate"]))))


def _consistent(flip: Fields) -> Iterator[Paragraph]:
    """The share of items that never flipped; ten of ten are far from proof of consistency."""
    if flip["value"] is None or flip["low"] is None:
        return
    same = round((1 - flip["value"]) * flip["n"])
    kept = {"value": 1 - flip["value"], "low": 1 - flip["high"], "high": 1 - flip["low"]}
    yield Paragraph(
        f"One label throughout: {same:,} of {flip['n']:,} items with two or more valid verdicts, "
        f"{rate_text(kept)}, with R = {flip['repeats']}."
    )


def _agreement(grader: Fields, words: LabelWords) -> Section:
    fields, reasons = grader["agreement"], grader["not_defined"]
    coverage, is_nominal = percent(grader["rate_coverage"]["agreement"]), fields["kappa_weights"] == "none"
    named = (
        ("raw", "raw agreement", rate_text),
        ("cohen_kappa", _kappa_name(fields["kappa_weights"]), coefficient_text),
        ("gwet_ac1", "Gwet's AC1" if is_nominal else "Gwet's AC1, unweighted", coefficient_text),
        ("krippendorff_alpha", "Krippendorff's alpha", coefficient_text),
    )
    rows = tuple(
        (name, shown(fields[field], words.retold(reasons.get(f"agreement.{field}"))), *basis(fields[field]), coverage)
        for field, name, shown in named
    )
    shares = ", ".join(f"{label} {percent(share)}" for label, share in fields["prevalence"].items())
    prevalence = Paragraph(f"Prevalence of {words.givers} labels: {shares or NOT_DEFINED}.")
    note = "Kappa falls where one label prevails, also at a high agreement; AC1 hardly does."
    table = Table(("one draw", "value", *BASIS), rows)
    return Section(f"Agreement with {words.giver}", 3, (table, prevalence, Paragraph(note, once=True)))


def _kappa_name(weights: str) -> str:
    return "Cohen's kappa" if weights == "none" else f"Cohen's kappa, {weights} weights"


def _majority(grader: Fields) -> list[Section]:
    sizes = sorted(grader["majority"].values(), key=lambda rates: int(rates["k"]))
    if len(sizes) < 2:
        return []
    rows = tuple(
        (
            str(rates["k"]),
            rate_text(rates["false_negative_rate"]),
            short_percent(rates["false_negative_ties"]),
            f"{rates['false_negative_rate']['n']:,}",
            rate_text(rates["false_positive_rate"]),
            short_percent(rates["false_positive_ties"]),
            f"{rates['false_positive_rate']['n']:,}",
        )
        for rates in sizes
    )
    note = (
        "Error rates of the most frequent label of K draws, from the chances of the labels; a tie is no verdict and "
        "counted apart."
        if grader["exact"]
        else "Error rates of the most frequent label of K draws, without replacement; a tie is no verdict and counted "
        "apart. Items with fewer than K valid verdicts are left out."
    )
    columns = ("K", "false negatives", "ties", "items", "false positives", "ties", "items")
    table = Table(columns, rows, breaks=(4,), bars=_error_bars(sizes, 1, 4))
    return [Section("Majority of K draws", 3, (table, Paragraph(note, once=True)))]


def _error_bars(rows: Collection[Fields], false_negatives: int, false_positives: int) -> tuple[Bars, ...]:
    """Bars behind the columns of both error rates."""
    fields = {"false_negative_rate": false_negatives, "false_positive_rate": false_positives}
    return tuple(Bars(column, tuple(row[field]["value"] for row in rows)) for field, column in fields.items())


def _parts(heading: str, first: str, parts: Mapping[str, Fields], positive: str | None) -> list[Section]:
    if not parts:
        return []
    rates = summary_rates(tuple(parts.values()), positive=positive)
    agrees = rates is not AGREEMENT_RATE
    rows = tuple(
        (
            name,
            f"{part['n_items']:,}",
            f"{part['n_verdicts']:,}/{part['n_expected']:,}",
            *map(_part_rate, rates.of(part)),
            *([brief(short_percent(part["agreement"]["raw"]))] if agrees else []),
            brief(short_percent(part["pairwise_disagreement"])),
        )
        for name, part in parts.items()
    )
    columns = (first, "items", "valid", *rates.names, *(["agree"] if agrees else []), "pairwise")
    note = (
        "Valid: valid verdicts over those asked for. A dash: not defined, no item of that sort has the labels and "
        "verdicts for it; n counts items."
    )
    bars = tuple(
        Bars(3 + place, tuple(rates.of(part)[place]["value"] for part in parts.values()))
        for place in range(len(rates.names))
    )
    table = Table(columns, rows, breaks=(3 + len(rates.names),), bars=bars)
    return [Section(heading, 3, (table, Paragraph(note, once=True)))]


def _part_rate(estimate: Fields) -> str:
    return f"{DASH} (n = 0)" if estimate["value"] is None else rate_text(estimate)
