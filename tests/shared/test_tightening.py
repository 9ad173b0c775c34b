"""This file proves that a manifest from afar takes away and never adds, whatever is in it."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hubbub.declaration import boolean, choice, metric_of, number, vector
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.tightening import differences, tighten

PRICES = ("0.25", "0.5", "1", "2")
DAYS = (None, date(2026, 6, 1), date(2027, 1, 1), date(2028, 1, 1))
DARK = boolean("dark", epsilon="1", expires=date(2027, 1, 1))


def gaussian(name: str, epsilon: str, delta: str) -> Metric:
    return vector(name, size=4, norm=1, mechanism="gaussian", delta=delta, epsilon=epsilon)


def remembering(epsilon: str, **more: Any) -> Metric:
    return choice(
        "dark", options=["a", "b"], epsilon=epsilon, mechanism="l_grr", parameters={"first": "0.1"}, **more
    )


def declared(name: str) -> some.SearchStrategy[Metric]:
    """Draw metrics of one name that differ little, so that pairs often ask the same question."""
    tables = some.sampled_from(
        [
            {"kind": "boolean"},
            {"kind": "boolean", "absent": False},
            {"kind": "boolean", "once": True},
            {"kind": "boolean", "source": "elsewhere"},
            {"kind": "boolean", "period": "28d"},
            {"kind": "choice", "options": ["a", "b"]},
            {"kind": "choice", "options": ["a", "b"], "mechanism": "optimized_unary"},
            {
                "kind": "choice",
                "options": ["a", "b", "c"],
                "mechanism": "l_osue",
                "changes": 1,
                "parameters": {"first": "0.1"},
            },
            {"kind": "number", "range": [0, 10]},
            {"kind": "number", "range": [0, 10], "parameters": {"steps": 64}},
        ]
    )
    tails = some.tuples(
        tables, some.sampled_from(PRICES), some.sampled_from(DAYS), some.sampled_from(["", "x"])
    )
    usual = tails.map(
        lambda tail: replace(
            metric_of(name, {**tail[0], "epsilon": tail[1], "why": tail[3]}), expires=tail[2]
        )
    )
    failing = some.builds(
        gaussian, some.just(name), some.sampled_from(PRICES), some.sampled_from(["1e-9", "1e-6"])
    )
    return some.one_of(usual, usual, usual, failing)


def manifests() -> some.SearchStrategy[Manifest]:
    each = some.tuples(*(some.one_of(some.none(), declared(name)) for name in ("dark", "mail", "tabs")))
    return some.builds(
        lambda serial, metrics: Manifest(
            app="notepad", serial=serial, metrics=tuple(metric for metric in metrics if metric is not None)
        ),
        some.integers(1, 3),
        each,
    )


def is_within(tighter: Metric, own: Metric) -> bool:
    """Tell whether a metric asks exactly what another does, for at most its price and at most as long."""
    same = replace(tighter, epsilon=own.epsilon, delta=own.delta, expires=own.expires)
    ends_earlier = own.expires is None or (tighter.expires is not None and tighter.expires <= own.expires)
    return same == own and tighter.epsilon <= own.epsilon and tighter.delta <= own.delta and ends_earlier


@given(manifests(), manifests())
def test_every_metric_that_is_left_is_within_the_app_s_own(own: Manifest, remote: Manifest) -> None:
    tighter = tighten(own, remote)

    assert all(is_within(metric, own[metric.name]) for metric in tighter.metrics)


@given(manifests(), manifests())
def test_a_metric_that_keeps_a_permanent_answer_keeps_its_id(own: Manifest, remote: Manifest) -> None:
    tighter = tighten(own, remote)

    remembering = [metric for metric in tighter.metrics if metric.mechanism == "l_osue"]
    assert [metric.id for metric in remembering] == [own[metric.name].id for metric in remembering]


@given(manifests(), manifests())
def test_what_is_asked_is_published_by_the_app_or_by_its_maker(own: Manifest, remote: Manifest) -> None:
    tighter = tighten(own, remote)

    published = {metric.id for metric in (*own.metrics, *remote.metrics)}
    assert {metric.id for metric in tighter.metrics} <= published


@given(manifests(), manifests())
def test_tightening_twice_is_tightening_once(own: Manifest, remote: Manifest) -> None:
    once = tighten(own, remote)

    assert tighten(once, remote) == once


@given(manifests(), manifests(), manifests())
def test_no_chain_of_manifests_leads_outside_of_the_app_s_own(
    own: Manifest, first: Manifest, second: Manifest
) -> None:
    tighter = tighten(tighten(own, first), second)

    assert all(is_within(metric, own[metric.name]) for metric in tighter.metrics)


@given(manifests(), manifests())
def test_the_words_name_exactly_the_metrics_that_change(own: Manifest, remote: Manifest) -> None:
    tighter = tighten(own, remote)

    after = {metric.name: metric for metric in tighter.metrics}
    changed = {metric.name for metric in own.metrics if after.get(metric.name) != metric}
    words = " ".join(differences(own, tighter)).split()
    assert changed == {metric.name for metric in own.metrics} & set(words)


@pytest.mark.parametrize(
    ("own", "remote", "words"),
    [
        (DARK, None, ("pauses dark",)),
        (DARK, replace(DARK, epsilon=boolean("dark", epsilon="0.5").epsilon), ("lowers dark to 0.5",)),
        (DARK, replace(DARK, expires=date(2026, 6, 1)), ("ends dark on 2026-06-01",)),
        (DARK, replace(DARK, expires=None), ()),
        (DARK, replace(DARK, expires=date(2028, 1, 1)), ()),
        (DARK, boolean("dark", epsilon="2", expires=date(2026, 6, 1)), ("ends dark on 2026-06-01",)),
        (DARK, boolean("dark", epsilon="0.5", period="28d"), ()),
        (DARK, boolean("dark", epsilon="0.5", source="light"), ()),
        (DARK, boolean("dark", epsilon="0.5", once=True), ()),
        (DARK, choice("dark", options=["a", "b"], epsilon="0.5"), ()),
        (number("dark", low=0, high=10, epsilon=1), number("dark", low=0, high=9, epsilon="0.5"), ()),
        (
            gaussian("dark", "1", "1e-6"),
            gaussian("dark", "1", "1e-9"),
            ("lowers the delta of dark to 0.000000001",),
        ),
        (gaussian("dark", "1", "1e-9"), gaussian("dark", "0.5", "1e-6"), ()),
        (remembering("1"), remembering("0.5"), ()),
        (remembering("1"), remembering("1", expires=date(2026, 6, 1)), ("ends dark on 2026-06-01",)),
    ],
)
def test_a_change_is_said_in_words(own: Metric, remote: Metric | None, words: tuple[str, ...]) -> None:
    before = Manifest(app="notepad", serial=1, metrics=(own,))
    after = Manifest(app="notepad", serial=2, metrics=() if remote is None else (remote,))

    found = differences(before, tighten(before, after))

    assert found == words


@pytest.mark.parametrize(("app", "serial"), [("notepad", 3), ("notepad", 4), ("calendar", 9)])
def test_a_manifest_that_is_no_newer_or_of_another_app_changes_nothing(app: str, serial: int) -> None:
    own = Manifest(app="notepad", serial=4, metrics=(DARK,))

    tighter = tighten(own, Manifest(app=app, serial=serial, metrics=()))

    assert tighter is own
