"""This file proves that options can be asked for as one row, and texts by name."""

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from hubbub import registry
from hubbub.declaration import boolean, choice, metric_of, number
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis.answers import answer
from hubbub_server.commands.cli import command
from tests.server.site import Site, batch, code, system

SYSTEM = choice("system", options=["linux", "mac", "windows", "other"], epsilon="2").of("notepad")
TALLY = Tally(100, np.array([40, 30, 20, 10]))
OTHERS = [
    boolean("dark", epsilon="1").of("notepad"),
    number("seconds", low=0, high=10, epsilon="1").of("notepad"),
]


def browser(kind: str) -> Metric:
    """Return a question that is answered in at most eight bytes of text."""
    table = {"kind": "text", "length": 8, "epsilon": "4", "mechanism": kind}
    return metric_of("browser", table).of("notepad")


@pytest.mark.parametrize("kind", ["randomized_response", "optimized_unary", "subset_selection"])
def test_options_together_are_one_row_with_the_sum_of_their_shares(kind: str) -> None:
    metric = choice("system", options=list("abcd"), epsilon="2", mechanism=kind).of("notepad")
    mechanism = registry.build(metric)
    tally = mechanism.tally(mechanism.perturb(np.arange(400) % 4, seeded_coins(71)))

    alone = answer(metric, tally)
    found = answer(metric, tally, any_of=["a", "c"])

    assert [row.name for row in found.rows] == ["a or c"]
    value = found.rows[0].value
    assert value is not None
    assert value == pytest.approx((alone["a"].value or 0) + (alone["c"].value or 0))
    low, high = found.rows[0].population.interval or (1, 0)
    assert low < value < high


def test_options_together_of_which_a_report_names_one_have_the_error_of_one_category() -> None:
    p, q = 0.7112345942275937, 0.09625513525746877  # 1 of 4 at epsilon 2: e^2 / (e^2 + 3), 1 / (e^2 + 3)

    row = answer(SYSTEM, TALLY, any_of=["linux", "mac"]).rows[0]

    assert row.value == pytest.approx((0.7 - 2 * q) / (p - q))
    share, kept, other = row.value, p + q, 2 * q
    variance = share * kept * (1 - kept) + (1 - share) * other * (1 - other)
    assert row.respondents.stderr == pytest.approx(variance**0.5 / (p - q) / 10)


def test_one_option_together_is_its_row() -> None:
    assert answer(SYSTEM, TALLY, any_of=["mac"])["mac"].value == answer(SYSTEM, TALLY)["mac"].value


def test_options_together_have_a_view_and_advice_about_one_option() -> None:
    alone = answer(SYSTEM, TALLY, view="norm-sub")

    found = answer(SYSTEM, TALLY, view="norm-sub", any_of=["linux", "mac"])

    assert found.rows[0].viewed == pytest.approx(sum(alone[name].viewed or 0 for name in ("linux", "mac")))
    assert "about the population of one option of at most" in found.advice[0]


def test_without_reports_options_together_are_named_and_unknown() -> None:
    found = answer(SYSTEM, Tally(0, np.zeros(4)), any_of=["linux", "other"])

    assert [(row.name, row.value) for row in found.rows] == [("linux or other", None)]


@pytest.mark.parametrize(
    ("metric", "options", "why"),
    [
        (
            SYSTEM,
            ["linux", "beos"],
            "has no row 'beos'; name rows like \"linux\"; rows are linux, mac, windows, other",
        ),
        (SYSTEM, ["linux", "linux"], "name each row once"),
        (SYSTEM, ["linux", "mac", "windows", "other"], "everybody holds one"),
        (OTHERS[0], ["yes"], '"dark" is a boolean'),
        (OTHERS[1], ["mean"], '"seconds" is a number'),
    ],
)
def test_options_that_can_not_be_one_row_are_refused(metric: Metric, options: list[str], why: str) -> None:
    with pytest.raises(DomainError, match=why):
        answer(metric, Tally(0, np.zeros(4)), any_of=options)


def test_the_largest_and_options_together_are_not_asked_for_at_once() -> None:
    with pytest.raises(DomainError, match="not for both"):
        answer(SYSTEM, TALLY, top=1, any_of=["linux", "mac"])


@pytest.mark.parametrize("metric", [SYSTEM, *OTHERS], ids=lambda metric: metric.name)
def test_candidates_are_refused_where_answers_are_no_text(metric: Metric) -> None:
    with pytest.raises(DomainError, match="candidates are for a text"):
        answer(metric, Tally(0, np.zeros(4)), candidates=["firefox"])


@pytest.mark.parametrize("kind", ["count_mean_sketch", "hadamard_sketch"])
def test_texts_that_are_named_are_looked_for(kind: str) -> None:
    metric = browser(kind)
    mechanism = registry.build(metric)
    held = np.array([metric.domain.encode(text) for text in ["firefox"] * 700 + ["café"] * 300])
    tally = mechanism.tally(mechanism.perturb(held, seeded_coins(72)))

    found = answer(metric, tally, candidates=["firefox", "cafe\u0301"])

    assert [row.name for row in found.rows] == ["firefox", "café"]
    values = [row.value for row in found.rows]
    assert values == [pytest.approx(share, abs=6 * mechanism.stderr(1_000)) for share in (0.7, 0.3)]


def test_without_candidates_the_answer_says_that_texts_must_be_named() -> None:
    metric = browser("hadamard_sketch")

    found = answer(metric, Tally(0, np.zeros(4)))

    assert found.rows == ()
    assert found.advice[-1] == "texts can't be listed; name candidates to look for"


def test_without_reports_candidates_are_named_and_unknown() -> None:
    found = answer(browser("hadamard_sketch"), Tally(0, np.zeros(4)), candidates=["firefox"])

    assert [(row.name, row.value) for row in found.rows] == [("firefox", None)]


@pytest.mark.parametrize("candidates", [["firefox", "firefox"], ["netscape 4"], ["a\n"]], ids=str)
def test_candidates_that_no_device_can_hold_or_that_come_twice_are_refused(candidates: list[str]) -> None:
    with pytest.raises(DomainError):
        answer(browser("hadamard_sketch"), Tally(0, np.zeros(4)), candidates=candidates)


def test_a_candidate_that_is_too_long_is_said_to_be_held_by_no_device() -> None:
    with pytest.raises(
        DomainError, match=r"no device can hold the candidate 'netscape 4': .* at most 8 bytes"
    ):
        answer(browser("hadamard_sketch"), Tally(0, np.zeros(4)), candidates=["netscape 4"])


def test_a_text_that_was_found_within_the_noise_is_said_to_be() -> None:
    metric = browser("prefix_extension")
    mechanism = registry.build(metric)
    held = np.array(
        [metric.domain.encode(text) for text in ["firefox"] * 2_000 + [f"v{i}" for i in range(1_000)]]
    )
    tally = mechanism.tally(mechanism.perturb(held, seeded_coins(75)))

    found = answer(metric, tally, candidates=["emacs"])

    low = [
        row.name for row in found.rows if (row.respondents.interval or (1,))[0] <= 0 and row.name != "emacs"
    ]
    (advice,) = (sentence for sentence in found.advice if "not above noise" in sentence)
    assert low
    assert advice.startswith(f"found, but not above noise, so maybe nobody's: {low[0]}")
    assert not {"firefox", "emacs"} & set(advice.split(": ")[1].split(", "))


def test_options_together_are_answered_over_http(home: Site) -> None:
    home.post(batch(system([0b011] * 30)))

    reply = home.estimate("system", any=["linux", "mac"])  # type: ignore[arg-type]

    assert reply.status_code == 200, reply.text
    answered = json.loads(reply.data)["groups"][0]["answer"]
    assert [row["name"] for row in answered["rows"]] == ["linux or mac"]


@pytest.mark.parametrize(
    "query",
    [
        {"any": ["linux", "beos"]},
        {"all": ["linux"]},
        {"candidate": ["firefox"]},
        {"view": ["raw", "raw"]},
        {"level": ["95"]},
    ],
    ids=str,
)
def test_what_can_not_be_asked_is_a_bad_query(home: Site, query: dict[str, Any]) -> None:
    reply = home.estimate("system", **query)

    assert (reply.status_code, code(reply)) == (400, "bad_query")


@pytest.mark.parametrize(
    ("level", "example"), [("95", "0.95"), ("95%", "0.95"), ("1.0", "0.95"), ("99", "0.99")]
)
def test_a_level_in_percent_is_refused_with_the_way_to_write_it(home: Site, level: str, example: str) -> None:
    reply = home.estimate("system", level=level)

    assert reply.status_code == 400
    assert json.loads(reply.data)["detail"] == f"level must be from 0.5 to 0.9999; write {example}"


def test_options_together_are_printed(home: Site) -> None:
    home.post(batch(system([0b011] * 30)))
    settings = home.database.parent / "hubbub.toml"
    settings.write_text(f'database = "{home.database}"\n')

    asked = ["estimate", "system", "--any", "linux", "--any", "mac", "--config", str(settings)]
    result = CliRunner().invoke(command, asked)

    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[3].startswith("linux or mac ")
