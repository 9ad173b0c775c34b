"""This file proves what the linter finds, where it points, and what it foretells a device to spend."""

import hashlib
import re
from datetime import date

import pytest

from hubbub.declaration import boolean, choice
from hubbub.epsilon import MICRO
from hubbub.lint import Lint, lint
from hubbub.spending import Spending, forecast

TODAY = date(2026, 7, 1)
SOUND = """\
format = 1
app = "notepad"
serial = 1

[metrics.tabs]
kind = "boolean"
epsilon = "1"
absent = false
why = "decide the width"
owner = "ux@example.org"
expires = 2027-01-01
"""
SECOND = SOUND[SOUND.index("[") :].replace("width", "colour")


def judge(text: str) -> Lint:
    return lint(text, where="metrics.toml", today=TODAY)


def test_a_complete_metric_has_no_findings() -> None:
    result = judge(SOUND)

    assert (result.findings, result.has_errors) == ((), False)


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        (
            '"1"',
            '"4.000001"\nperiod = "28d"',
            "error: metrics.toml, line 7",
            'more than the 4 .* write epsilon = "4"',
        ),
        ('"1"', "1.0", "error: metrics.toml, line 7", "write epsilon as a string"),
        ('"1"', '"1"\nmechanism = "best"', "error: metrics.toml, line 8", "leaves its mechanism open"),
        ("2027-01-01", "2026-07-01", "error: metrics.toml, line 11", "expired on 2026-07-01"),
        ("absent = false\n", "", "warning: metrics.toml, line 5", "has no absent.* absent = false"),
        ('why = "decide the width"\n', "", "warning: metrics.toml, line 5", "does not say why"),
        ('owner = "ux@example.org"\n', "", "warning: metrics.toml, line 5", "has no owner"),
        ("expires = 2027-01-01\n", "", "warning: metrics.toml, line 5", "never expires.* = 2027-07-01"),
        (
            "absent = false",
            'once = true\nlabels.os = ["a", "b"]',
            "note: metrics.toml, line 9",
            "labels in clear",
        ),
        ("absent", 'labels.os = ["a", "b"]\nabsent', "warning: metrics.toml, line 8", "absent beside labels"),
        ("absent", "once = true\nabsent", "warning: metrics.toml, line 9", "absent beside once"),
        ('"1"', '"2.000001"', "warning: metrics.toml", 'source "tabs", but gives 8 by default'),
    ],
)
def test_a_fault_is_found_with_its_line_and_what_to_write(old: str, new: str, place: str, words: str) -> None:
    result = judge(SOUND.replace(old, new))

    assert len(result.findings) == 1
    assert str(result.findings[0]).startswith(f"{place}: ")
    assert re.search(words, str(result.findings[0]))
    assert result.has_errors is place.startswith("error")


@pytest.mark.parametrize(
    ("table", "example"),
    [
        ('kind = "choice"\noptions = ["a", "b"]', '"b"'),
        ('kind = "number"\nrange = [-1, 5]', "-1"),
        ('kind = "choices"\noptions = ["a", "b"]', "[]"),
        ('kind = "text"\nlength = 4', '""'),
        ('kind = "key_value"\nkeys = ["a", "b"]\nrange = [0, 1]\nmost = 1', "{}"),
        ('kind = "selection"\noptions = ["a", "b"]', '{ "a" = 0, "b" = 0 }'),
        ('kind = "vector"\nsize = 3\nnorm = 1\nmechanism = "private_unit"', "[0, 0, 0]"),
        (
            'kind = "record"\nattributes = { dark = { kind = "boolean" }, '
            '"a b" = { kind = "number", range = [1, 2] } }',
            '{ "dark" = false, "a b" = 1 }',
        ),
    ],
)
def test_what_an_absent_device_reports_is_shown_for_each_kind(table: str, example: str) -> None:
    text = SOUND.replace('kind = "boolean"', table).replace("absent = false\n", "")

    findings = judge(text).findings

    assert [finding.remedy for finding in findings if "no absent" in finding.problem] == [
        f"add what a device reports that recorded nothing, like absent = {example}"
    ]
    followed = judge(text.replace("epsilon =", f"absent = {example}\nepsilon =", 1)).findings
    assert [finding.problem for finding in followed if "absent" in finding.problem] == []


def test_an_example_that_is_too_long_to_show_is_cut() -> None:
    table = 'kind = "vector"\nsize = 1000\nnorm = 1\nmechanism = "private_unit"'
    text = SOUND.replace('kind = "boolean"', table).replace("absent = false\n", "")

    (remedy,) = (finding.remedy for finding in judge(text).findings if "no absent" in finding.problem)

    assert len(remedy) < 500
    assert remedy.endswith("..., and so on to the end")


def test_every_metric_that_cannot_be_read_is_found() -> None:
    broken = (
        SOUND.replace('"1"', "1.0") + SECOND + SECOND.replace("tabs", "size").replace('"boolean"', '"bool"')
    )

    result = judge(broken.replace("tabs]", "pages]", 1))

    assert [finding.where for finding in result.findings] == ["metrics.toml, line 7", "metrics.toml, line 20"]
    assert result.has_errors


def test_a_file_that_is_no_manifest_is_one_error() -> None:
    result = judge("format = 1\n[metrics")

    assert len(result.findings) == 1
    assert result.findings[0].problem.startswith("not TOML")


@pytest.mark.parametrize(
    ("name", "why", "source", "alike"),
    [
        ("tabs_", "colour", "tabs_", True),
        ("width", "width", "width", True),
        ("width", "colour", "width", False),
        ("tabs_", "width", "tabs", False),
    ],
)
def test_two_metrics_read_alike_by_name_or_by_purpose_unless_they_share_a_source(
    name: str, why: str, source: str, *, alike: bool
) -> None:
    second = SECOND.replace("tabs", name).replace("colour", why) + f'source = "{source}"\n'

    result = judge(SOUND + second)

    assert [finding.where for finding in result.findings] == ["metrics.toml, line 12"] * alike


def test_metrics_on_one_source_spend_one_budget() -> None:
    result = judge(SOUND + SECOND.replace("tabs", "width").replace('"1"', '"0.5"\nsource = "tabs"'))

    weeks = 27  # until 2027-01-01, the last one begun
    assert result.spendings[0] == Spending("tabs", 6 * MICRO, weeks * 3 * MICRO // 2, None)
    assert result.spendings[1] == Spending("", 6 * MICRO, weeks * 3 * MICRO // 2, None)


def test_a_metric_without_end_spends_its_whole_life_budget_and_falls_silent() -> None:
    result = judge(SOUND.replace("expires = 2027-01-01\n", ""))

    assert result.spendings == (
        Spending("tabs", 4 * MICRO, 64 * MICRO, 64 * 7),
        Spending("", 4 * MICRO, 64 * MICRO, 64 * 7),
    )


def test_all_sources_together_spend_no_more_than_each_of_them_and_than_the_device_gives() -> None:
    today = date(2026, 1, 1)
    once = choice("system", options=["linux", "mac"], epsilon="2", once=True)
    ends = boolean("tabs", epsilon="1", period="1d", expires=date(2026, 2, 27))  # 57 days, at 8 in 28
    lasting = boolean("dark", epsilon="2")  # 8 in 28 days, 64 in 224

    ended, one, two, three = (
        [(spending.life // MICRO, spending.days) for spending in forecast(metrics, today=today)]
        for metrics in (
            [once, ends],
            [once, ends, lasting],
            [once, lasting, boolean("wide", epsilon="1")],  # 64 in 448
            [boolean(name, epsilon="1") for name in ("dark", "wide", "loud")],  # 12 in 28: 128 in 299
        )
    )

    assert ended == [(2, None), (57, None), (59, None)]
    assert one == [(2, None), (57, None), (64, 224), (123, None)]
    assert two == [(2, None), (64, 224), (64, 448), (128, 434)]  # 2 less than 130, at 4 in 28 days
    assert three == [(64, 448), (64, 448), (64, 448), (128, 298)]


def test_an_answer_once_is_spent_once() -> None:
    result = judge(SOUND.replace("absent", "once = true\nabsent"))

    assert result.spendings[0] == Spending("tabs", MICRO, MICRO, None)


def test_a_permanent_answer_is_paid_for_in_advance_with_all_its_changes() -> None:
    memo = 'kind = "boolean"\nmechanism = "l_grr"\nparameters.first = "0.5"\nchanges = 2'
    result = judge(SOUND.replace('kind = "boolean"', memo))

    assert result.spendings[0] == Spending("tabs", 2 * MICRO, 2 * MICRO, None)  # yes and no: two states


def test_a_permanent_answer_that_costs_more_than_devices_give_at_once_is_an_error() -> None:
    memo = 'kind = "choice"\nmechanism = "l_grr"\nparameters.first = "0.5"\n'
    nine = memo + f"options = {[str(at) for at in range(9)]}\n"
    alone = SOUND.replace("absent = false", 'absent = "0"').replace('kind = "boolean"', nine)

    seven, eight = (judge(f"{alone}\nchanges = {changes}").findings for changes in (7, 8))

    problem = 'metric "tabs" sets aside epsilon 9 at once: more than devices give by default'
    assert [finding.problem for finding in seven] == []
    assert ("error", problem) in [(finding.severity, finding.problem) for finding in eight]


def test_metrics_that_ask_too_much_together_are_found() -> None:
    names = ["alpha", "bravo", "charlie", "delta"]
    rest = "".join(
        SECOND.replace("tabs", name).replace("colour", name).replace('"1"', '"1.1"') for name in names
    )

    result = judge(SOUND + rest)

    assert [finding.problem for finding in result.findings] == [
        "a device would spend 21.6 in 28 days on all metrics together, but gives 16 by default, "
        "so that some periods stay without an answer"
    ]


def test_more_metrics_than_a_device_answers_are_found() -> None:
    once = SECOND.replace('"1"', '"0.01"')
    names = [f"m{hashlib.sha256(bytes([i])).hexdigest()[:16]}" for i in range(32)]
    many = "".join(once.replace("tabs", name).replace("colour", name) for name in names)

    result = judge(SOUND + many)

    assert [finding.problem for finding in result.findings] == [
        "33 metrics are more than the 32 a device answers by default"
    ]


def test_a_device_falls_silent_no_sooner_than_its_windows_let_it_spend() -> None:
    daily = boolean("tabs", epsilon="1.5", period="1d")

    spending, _ = forecast([daily], today=date(2026, 1, 1))

    assert spending.days == 28 * 64 // 8
