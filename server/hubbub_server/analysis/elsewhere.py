"""This file says where the reports of a metric are, if none are where they were asked for."""

from collections.abc import Sequence

from hubbub.metric import Metric
from hubbub_server.analysis.spans import EVER, day
from hubbub_server.store.protocol import Batches


def elsewhere(batches: Batches, metrics: Sequence[Metric], spans: Sequence[range]) -> tuple[str, ...]:
    """Tell of reports of other periods, or of other labels in these; of none if there are none at all.

    spans: the periods that were asked for, of each metric.
    """
    found = [
        (period in span, day(period, metric), tally.n)
        for metric, span in zip(metrics, spans, strict=True)
        for period, _, tally in batches.tallies(metric.id, EVER)
        if tally.n
    ]
    inside = sum(n for is_inside, _, n in found if is_inside)
    if inside:
        return (f"in this span: {_reports(inside)}, with other labels",)
    if not found:
        return ()
    n, starts = sum(n for *_, n in found), sorted(start for _, start, _ in found)
    return (
        f"outside of this span: {_reports(n)}, in periods that start from {starts[0]} to {starts[-1]}; "
        "a span has the periods that start in it",
    )


def _reports(n: int) -> str:
    return f"{n:,} report{'s' * (n != 1)}"
