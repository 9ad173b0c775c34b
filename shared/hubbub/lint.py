"""This file reads a manifest like a wary colleague: what is wrong, missing or risky, and what to write."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Any, TypeAlias

from hubbub.declaration import metric_of
from hubbub.delta import Delta
from hubbub.domain import Domain
from hubbub.domains.number import Number
from hubbub.domains.plain import decimal, plain_decimal
from hubbub.domains.record import Record
from hubbub.domains.vector import Vector
from hubbub.epsilon import decimal_text
from hubbub.errors import ManifestError
from hubbub.manifest import Manifest, line_of
from hubbub.metric import Metric
from hubbub.second_opinion import Severity, opinions
from hubbub.spending import Limits, Spending, forecast, reserved

Fault: TypeAlias = tuple[object, Severity, str, str, str]  # holds?, severity, key, problem, remedy

ALIKE = 0.85  # similarity of names, as difflib counts it
LONGEST = 400  # characters of an example that is shown in full


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at.

    severity: an error keeps a default device or a collector from taking part; a note is for information.
    where: file and line. remedy: what to write.
    """

    severity: Severity
    where: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.where}: {self.problem}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True, slots=True)
class Lint:
    """All findings on a manifest, and what it costs a device; if it isn't whole, only the first errors."""

    findings: tuple[Finding, ...]
    spendings: tuple[Spending, ...] = ()
    is_whole: bool = True

    @property
    def has_errors(self) -> bool:
        """Whether a default device or a collector would refuse something."""
        return any(finding.severity == "error" for finding in self.findings)


def lint(text: str, *, where: str = "manifest", today: date, limits: Limits | None = None) -> Lint:
    r"""Judge a manifest as a person wrote it.

    where: the file's name, for messages. limits: of the devices' policy.

    >>> text = 'format=1\napp="a"\nserial=1\n[metrics.tabs]\nkind="boolean"\nepsilon="1"\nwhy="?"\nowner="u"'
    >>> for finding in lint(text, today=date(2027, 1, 1)).findings:
    ...     print(finding)
    warning: manifest, line 4: metric "tabs" has no absent, so that a report says something was recorded; ...
    warning: manifest, line 4: metric "tabs" never expires; add a date, like expires = 2028-01-01
    """
    limits = limits or Limits()
    try:
        manifest = Manifest.from_toml(text, where=where)
    except ManifestError as error:
        return Lint(tuple(_unreadable(text, where, error)), is_whole=False)
    document = tomllib.loads(text)
    spendings = forecast(manifest.metrics, today=today, limits=limits)
    findings = [
        Finding(
            severity,
            f"{where}, line {line_of(text, (metric.name, key))}",
            f'metric "{metric.name}" {problem}',
            remedy,
        )
        for metric in manifest.metrics
        for holds, severity, key, problem, remedy in (
            *_faults(metric, today, limits),
            *_opinions(metric, document["metrics"][metric.name]),
            *_likeness(metric, manifest.metrics),
        )
        if holds
    ]
    if not manifest.metrics:
        remedy = "add a table like [metrics.uses_dark_mode]"
        findings.append(Finding("warning", where, "asks nothing", remedy))
    return Lint((*findings, *_overspending(manifest, spendings, limits, where)), spendings)


def _unreadable(text: str, where: str, first: ManifestError) -> Iterator[Finding]:
    """Say what keeps a manifest from being read: the first fault, or that of every metric if one is wrong."""
    if len(first.path) < 2:
        yield Finding("error", first.where, first.problem, first.remedy)
        return
    for name, table in tomllib.loads(text)["metrics"].items():
        try:
            metric_of(name, table)
        except ManifestError as error:
            place = f"{where}, line {line_of(text, error.path)}"
            yield Finding("error", place, error.problem, error.remedy)


def _faults(metric: Metric, today: date, limits: Limits) -> Sequence[Fault]:
    epsilon, most, expires = metric.epsilon, decimal_text(limits.report), metric.expires
    next_year = today.replace(year=today.year + 1, day=1)
    return (
        (
            not metric.is_resolved,
            "error",
            "mechanism",
            'leaves its mechanism open ("best")',
            "run hubbub plan FILE --write, or name one: devices and collectors refuse an open one",
        ),
        (
            epsilon.micro > limits.report,
            "error",
            "epsilon",
            f"has epsilon {epsilon}: more than the {most} a report that devices give by default",
            f'write epsilon = "{most}" or less: at {epsilon}, one report all but tells the value',
        ),
        (
            metric.delta.atto > limits.delta,
            "error",
            "delta",
            f"has delta {metric.delta}: devices agree to {Delta(limits.delta)} by default",
            'take another mechanism, or give the devices Policy(delta="...")',
        ),
        (
            metric.changes and reserved(metric) > min(limits.source_window, limits.window),
            "error",
            "changes",
            f"sets aside epsilon {decimal_text(reserved(metric))} at once: more than devices give by default",
            "write fewer changes, or a smaller epsilon",
        ),
        (
            expires and expires <= today,
            "error",
            "expires",
            f"expired on {expires}",
            "take it out, or give it a later date",
        ),
        (
            metric.absent is None and not metric.once,
            "warning",
            "absent",
            "has no absent, so that a report says something was recorded",
            f"add what a device reports that recorded nothing, like absent = {_shown(metric.domain)}",
        ),
        (
            metric.absent is not None and metric.once,
            "warning",
            "absent",
            "has absent beside once, so that the first period without an answer is the answer for good",
            "take one of the two out",
        ),
        (
            metric.absent is not None and metric.labels,
            "warning",
            "labels",
            'has absent beside labels: an absent report bears "other" for each, which tells it apart',
            "take one of the two out",
        ),
        (not expires, "warning", "expires", "never expires", f"add a date, like expires = {next_year}"),
        (not metric.why, "warning", "why", "does not say why it is asked", 'add why = "decide what?"'),
        (not metric.owner, "warning", "owner", "has no owner", 'add owner = "team@example.org"'),
        (
            metric.labels and metric.absent is None,
            "note",
            "labels",
            "sends its labels in clear",
            "keep only those that the answer must be split by",
        ),
    )


def _opinions(metric: Metric, table: Mapping[str, Any]) -> Iterator[Fault]:
    if metric.is_resolved:
        for severity, problem, remedy in opinions(metric):
            yield True, severity, "mechanism", problem, remedy
    if isinstance(metric.domain, Number) and metric.absent is not None:
        kept, written = metric.absent, plain_decimal(decimal(table["absent"]))
        problem = f"has absent outside its range, which counts as {kept}"
        yield kept != written, "warning", "absent", problem, f"write absent = {kept}, or widen the range"


def _likeness(metric: Metric, metrics: Sequence[Metric]) -> Iterator[Fault]:
    """Find earlier metrics that seem to ask the same fact out of another budget."""
    earlier = {
        other.name: other for other in metrics[: metrics.index(metric)] if other.source != metric.source
    }
    close = get_close_matches(metric.name, earlier, n=1, cutoff=ALIKE)
    same = [other.name for other in earlier.values() if metric.why and other.why == metric.why]
    for name in (close + same)[:1]:
        remedy = f'if both read one fact, give both source = "{earlier[name].source}", for one budget'
        yield True, "warning", "name", f'reads like "{name}"', remedy


def _overspending(
    manifest: Manifest, spendings: Sequence[Spending], limits: Limits, where: str
) -> Iterator[Finding]:
    """Find budgets that the metrics ask more of than devices give by default."""
    for spending in spendings:
        most = limits.source_window if spending.of else limits.window
        if spending.window > most:
            what = f'source "{spending.of}"' if spending.of else "all metrics together"
            yield Finding(
                "warning",
                where,
                f"a device would spend {decimal_text(spending.window)} in 28 days on {what}, "
                f"but gives {decimal_text(most)} by default, so that some periods stay without an answer",
                "ask less often, or with a smaller epsilon",
            )
    asked, most = len(manifest.metrics), limits.metrics
    if asked > most:
        problem = f"{asked} metrics are more than the {most} a device answers by default"
        yield Finding("warning", where, problem, "take some out")


def _shown(domain: Domain) -> str:
    example = _example(domain)
    return example if len(example) <= LONGEST else f"{example[:LONGEST]}..., and so on to the end"


def _example(domain: Domain) -> str:
    """Return a value of a domain as a manifest spells it."""
    kind, names = domain.kind, domain.names
    if isinstance(domain, Record):
        facts = (
            f"{json.dumps(name, ensure_ascii=False)} = {_example(inner)}" for name, inner in domain.attributes
        )
        return f"{{ {', '.join(facts)} }}"
    if kind == "selection":
        return f"{{ {', '.join(f'{json.dumps(name, ensure_ascii=False)} = 0' for name in names)} }}"
    if isinstance(domain, Vector):
        return str([0] * domain.size)
    others = {"boolean": "false", "choices": "[]", "key_value": "{}", "text": '""'}
    if kind in others:
        return others[kind]
    return names[0] if kind == "number" else json.dumps(names[-1], ensure_ascii=False)
