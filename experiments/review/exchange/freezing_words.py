"""What a frozen set says of itself: who labelled, how, how far they agree, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from experiments.review.display import estimate_text
from experiments.review.exchange.item_decisions import ItemDecision
from experiments.review.exchange.item_selection import Selection
from experiments.review.progress import RaterAgreement

__all__ = ["FrozenCounts", "describe"]


@dataclass(frozen=True, slots=True)
class FrozenCounts:
    """Counts over the items of the set, but ``n_disputed``, over all labelled items of the review.

    ``raters`` maps each to how many labels; ``agreement`` is over all doubly labelled items of the review, without
    adjudications; ``n_tied`` items have no reference label.
    """

    n_items: int
    n_double: int
    n_differ: int
    n_adjudicated: int
    n_tied: int
    n_disputed: int
    n_not_blind: int
    raters: Mapping[str, int]
    adjudicators: Mapping[str, int]
    first_day: str
    last_day: str
    agreement: RaterAgreement

    @classmethod
    def of(
        cls, everything: Mapping[str, ItemDecision], frozen: Mapping[str, ItemDecision], agreement: RaterAgreement
    ) -> FrozenCounts:
        """Count."""
        given = [row for one in frozen.values() for row in one.given]
        decided = [one.adjudication for one in frozen.values() if one.adjudication is not None]
        days = sorted(row.labelled_at[:10] for row in (*given, *decided) if row.labelled_at)
        return cls(
            n_items=len(frozen),
            n_double=sum(len(one.given) > 1 for one in frozen.values()),
            n_differ=sum(one.differs for one in frozen.values()),
            n_adjudicated=len(decided),
            n_tied=sum(one.label is None for one in frozen.values()),
            n_disputed=sum(one.is_disputed and one.is_labelled for one in everything.values()),
            n_not_blind=sum(not row.blind for row in (*given, *decided)),
            raters=_count(row.rater for row in given),
            adjudicators=_count(row.rater for row in decided),
            first_day=days[0] if days else "",
            last_day=days[-1] if days else "",
            agreement=agreement,
        )


def _count(names: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(names).items()))


def describe(counts: FrozenCounts, selection: Selection, *, keep_disputed: bool) -> str:
    """The provenance in sentences."""
    sentences = [
        _selection_text(selection),
        f"{sum(counts.raters.values()):,} labels by {_people(counts.raters)}{_days(counts)}.",
        _blind_text(counts),
        f"{counts.n_double:,} of {counts.n_items:,} items ({counts.n_double / counts.n_items:.0%}) have two labels or "
        f"more; items on which raters differ: {counts.n_differ:,}.",
        _agreement_text(counts),
        _adjudication_text(counts),
        f"Without a reference label, as raters differ evenly: {counts.n_tied:,}." if counts.n_tied else "",
        _disputed_text(counts, keep_disputed=keep_disputed),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _selection_text(selection: Selection) -> str:
    if not selection.is_biased:
        return f"People's labels of {selection.text}."
    return (
        f"NOT A SAMPLE: {selection.text}. Rates over these items are those of items that graders find hard, and say "
        "nothing of any others; the metadata of each item have its probability."
    )


def _people(raters: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in raters.items()) or "nobody"


def _days(counts: FrozenCounts) -> str:
    if not counts.first_day:
        return ""
    return f", {counts.first_day}" + (f" to {counts.last_day}" if counts.last_day != counts.first_day else "")


def _blind_text(counts: FrozenCounts) -> str:
    n_all = sum(counts.raters.values()) + sum(counts.adjudicators.values())
    if not counts.n_not_blind:
        return "All labels were given without sight of graders' verdicts."
    return f"{counts.n_not_blind:,} of {n_all:,} are not known to have been given without sight of graders' verdicts."


def _agreement_text(counts: FrozenCounts) -> str:
    agreement = counts.agreement
    if agreement.raw.value is None:
        return "Agreement of raters is not defined, as no item has two labels."
    return (
        "Raters by themselves, before any adjudication, agree in "
        f"{estimate_text(agreement.raw, percent=True)} of pairs; Krippendorff's alpha {estimate_text(agreement.alpha)}."
    )


def _adjudication_text(counts: FrozenCounts) -> str:
    if not counts.n_adjudicated:
        return ""
    return (
        f"Items adjudicated: {counts.n_adjudicated:,}, by {_people(counts.adjudicators)}. An adjudication "
        "stands as one more rater's row, so that agreement computed from the rows of this set is not that of "
        "independent raters."
    )


def _disputed_text(counts: FrozenCounts, *, keep_disputed: bool) -> str:
    if not counts.n_disputed:
        return ""
    what = "Kept, though" if keep_disputed else "Left out, as"
    return f"{what} a rater holds the reference to be wrong or doubtful: {counts.n_disputed:,} labelled items."
