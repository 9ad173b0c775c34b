"""This file writes what the lab finds for people who read it in a terminal."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from hubbub.epsilon import decimal_text
from hubbub.lint import Lint
from hubbub.spending import Limits, Spending
from hubbub.table import table
from hubbub_lab.audit import Audit
from hubbub_lab.simulation import Comparison, Result
from hubbub_server.analysis.lines import figure, span

VERDICTS = {True: "yes", False: "no", None: "-"}


def lint_lines(lint: Lint) -> str:
    """Return findings, what a device spends, and a count."""
    found = [finding.severity for finding in lint.findings]
    count = ", ".join(f"{kind}s: {found.count(kind)}" for kind in ("error", "warning", "note"))
    if not lint.is_whole:
        once = "this is mended" if len(found) == 1 else "these are mended"
        count = f"errors: at least {len(found)}; the rest can be judged once {once}"
    heads = ("source", "in 28 days", "of", "in its life", "of", "falls silent")
    rows = [_spending(spending) for spending in lint.spendings]
    spent = "A device that always answers spends, of what it gives by default:\n" + table(heads, rows)
    parts = ["\n".join(map(str, lint.findings)), spent if rows else "", count]
    return "\n\n".join(filter(None, parts))


def _spending(spending: Spending) -> tuple[str, ...]:
    limits = Limits()
    window = limits.source_window if spending.of else limits.window
    life = limits.source_life if spending.of else limits.life
    figures = map(decimal_text, (spending.window, window, spending.life, life))
    end = "never" if spending.days is None else f"after {spending.days:,} days"
    return (spending.of or "all together", *figures, end)


def simulation_lines(results: Sequence[Result]) -> str:
    """Return each truth beside its estimate; intervals and errors are about the respondents."""
    level = f"{100 * results[0].answer.level:g} % interval" if results else ""
    heads = ("metric", "row", "epsilon", "truth", "estimate", level, "error", "standard errors", "holds")
    rows = [_compared(result, each) for result in results for each in result.comparisons]
    notes = [f"note: {result.note}" for result in results if result.note]
    return "\n".join([table(heads, rows, left=2), *notes, *_missed(results)])


def _missed(results: Sequence[Result]) -> Iterator[str]:
    """Say how many intervals miss the truth, and how many would by their level alone."""
    held = [each.holds for result in results for each in result.comparisons if each.holds is not None]
    if held:
        level = results[0].answer.level
        by_design = f"at {100 * level:g} % about one in {1 / (1 - level):.0f} does, by design"
        yield f"\n{held.count(False)} of {len(held)} intervals miss the truth; {by_design}"


def _compared(result: Result, each: Comparison) -> tuple[str, ...]:
    about = each.row.respondents
    truth, value, error = (
        figure(number, about.stderr, each.row.unit) for number in (each.truth, each.row.value, each.error)
    )
    off = "-" if each.standard_errors is None else f"{each.standard_errors:+.1f}"
    interval = span(about.interval, about.stderr, each.row.unit)
    epsilon = result.answer.epsilon
    return (
        result.metric.name,
        each.row.name,
        epsilon,
        truth,
        value,
        interval,
        error,
        off,
        VERDICTS[each.holds],
    )


def audit_lines(found: Sequence[Audit]) -> str:
    """Return each claim beside the enclosure of the loss."""
    heads = ("mechanism", "domain", "claim", "loss at least", "loss at most", "tight", "listed", "verdict")
    rows = [
        (
            audit.kind,
            audit.domain,
            f"{float(audit.claim):g}",
            beside(audit.claim, audit.loss.lower),
            beside(audit.claim, audit.loss.upper),
            VERDICTS[audit.is_tight],
            VERDICTS[audit.listed is not None],
            "; ".join(audit.faults) or "ok",
        )
        for audit in found
    ]
    return table(heads, rows, left=2)


def beside(claim: Fraction, loss: Fraction) -> str:
    """Write a loss by its distance from the claim.

    >>> beside(Fraction(1), 1 - Fraction(1, 10**30))
    '1 - 1.0e-30'
    """
    away = float(loss - claim)
    return f"{float(claim):g} {'-' if away < 0 else '+'} {abs(away):.1e}"
