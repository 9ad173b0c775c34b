"""This file checks the mechanisms for means: their bytes, their bounds and their errors.

The reference values were computed with 50-digit arithmetic. False alarms: a comparison by Z once in 10**9.
"""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.hybrid import Hybrid
from hubbub.mechanisms.integer_table import IntegerTable
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.piecewise import Piecewise
from hubbub.tally import Tally
from hubbub.window_error import best_width, first_digits, hybrid_error, piecewise_error, second_moment
from hubbub.windows import Window
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z

REFERENCE = json.loads((Path(__file__).parents[1] / "vectors" / "reference_means.json").read_text())
FORMS, TABLES = REFERENCE["closed_forms"], REFERENCE["tables"]
QUARTERS = [str(quarters / 4) for quarters in range(1, 33)]
ALL: list[Mechanism] = [
    OneBitMean("1", "0", "10"),
    OneBitMean("20", "-1", "1"),
    Piecewise("1", "0", "10"),
    Piecewise("20", "-1", "1", steps=1),
    Piecewise("0.001", "0", "1", steps=2**14),
    Hybrid("0.5", "0", "10"),
    Hybrid("1", "-1", "1"),
    Hybrid("8", "0", "1", steps=4),
    IntegerTable("0.25", "-1", "1"),
    IntegerTable("8", "0", "10"),
]
ONE = OneBitMean("1", "0", "10")
WINDOW = Piecewise("1", "-1", "1", steps=4)  # 7 reports, a window of 3
BOTH = Hybrid("1", "-1", "1", steps=4)  # 2 of one bit, 7 of a window of 3
TABLE = IntegerTable("0.25", "0", "1")  # 20 reports, of which the lowest has a weight of 76472346041 at 0

GOLDEN = {
    # four coins round, one keeps; one byte: the end, 1 for the upper one
    "the upper end, kept": (ONE, 10.0, ScriptedCoins(then=255), "01"),
    "the upper end, flipped": (ONE, 10.0, ScriptedCoins([255] * 4, then=0), "00"),
    "the middle, rounded up and kept": (ONE, 5.0, ScriptedCoins([0] * 4, then=255), "01"),
    # four coins round; one chooses in the window, one that it is the window, one among all reports
    "point 1 of 0 to 4, report 2 of its window": (WINDOW, -0.5, ScriptedCoins([255] * 4 + [2, 0, 5]), "03"),
    "point 1 of 0 to 4, report 5 of all": (WINDOW, -0.5, ScriptedCoins([255] * 4 + [2, 255, 5]), "05"),
    # four coins round; one rounds to an end, one flips it; three as above; one chooses the way
    "one bit, point 3 of 0 to 4 gone down": (
        BOTH,
        0.5,
        ScriptedCoins([255] * 4 + [3, 255, 2, 0, 5, 255]),
        "00",
    ),
    "one bit, point 3 of 0 to 4 gone up": (
        BOTH,
        0.5,
        ScriptedCoins([255] * 4 + [2, 255, 2, 0, 5, 255]),
        "01",
    ),
    "a window, report 2 of point 3, and 2": (
        BOTH,
        0.5,
        ScriptedCoins([255] * 4 + [2, 255, 2, 0, 5, 0]),
        "07",
    ),
    # four coins round; eight, little-endian, are below the weights of so many reports
    "the last of the first report's share": (
        TABLE,
        0.0,
        ScriptedCoins([255] * 4 + [*(76472346040).to_bytes(8, "little")]),
        "00",
    ),
    "the first of the second report's share": (
        TABLE,
        0.0,
        ScriptedCoins([255] * 4 + [*(76472346041).to_bytes(8, "little")]),
        "01",
    ),
    "the last of all": (TABLE, 1.0, ScriptedCoins(then=255), "13"),
}


@pytest.mark.parametrize(("mechanism", "value", "coins", "wire"), GOLDEN.values(), ids=GOLDEN)
def test_a_report_of_a_number_is_these_bytes(
    mechanism: Mechanism, value: float, coins: ScriptedCoins, wire: str
) -> None:
    report = mechanism.perturb(np.array([value]), replace(coins))

    assert report.tobytes().hex() == wire
    assert report.dtype == mechanism.layout
    assert mechanism.check(report).all()


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_reports_past_the_last_are_told_and_never_counted(mechanism: Mechanism) -> None:
    last = int(mechanism.outputs()[-1])
    impossible = np.array([last + 1, -1])

    assert mechanism.check(impossible).tolist() == [False, False]
    assert mechanism.check(mechanism.outputs()).all()
    with pytest.raises((DomainError, ValueError)):
        mechanism.tally(impossible)


@pytest.mark.parametrize(
    ("mechanism", "width"),
    [
        (OneBitMean("20", "0", "1"), 1),
        (Piecewise("1", "0", "1", steps=100), 1),
        (Piecewise("1", "0", "1"), 2),
        (Piecewise("0.001", "0", "1", steps=2**14), 2),
        (Hybrid("0.5", "0", "1", steps=2**14), 1),
        (Hybrid("1", "0", "1"), 2),
        *[(IntegerTable(epsilon, "0", "1"), 1) for epsilon in QUARTERS],
    ],
    ids=str,
)
def test_reports_of_numbers_are_as_narrow_as_their_count_allows(mechanism: Mechanism, width: int) -> None:
    assert mechanism.layout.itemsize == width


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_a_mechanism_for_means_is_its_parameters(mechanism: Mechanism) -> None:
    again = pickle.loads(pickle.dumps(mechanism))  # noqa: S301 - our own bytes

    assert again == mechanism
    assert hash(again) == hash(mechanism)
    assert again.loss() == mechanism.loss()
    assert replace(mechanism, epsilon="1") == replace(again, epsilon="1.00")  # type: ignore[type-var]


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_no_reports_of_numbers_make_an_empty_tally_and_no_estimate(mechanism: Mechanism) -> None:
    nothing = mechanism.tally(mechanism.perturb(np.array([], dtype=float), system_coins()))

    assert nothing == Tally.zero(nothing.cells.size)
    with pytest.raises(TooFewReportsError):
        mechanism.estimate(nothing)
    with pytest.raises(TooFewReportsError):
        mechanism.stderr(0)


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_a_million_numbers_are_measured_within_their_error(mechanism: Any) -> None:
    values = np.linspace(float(mechanism.low), float(mechanism.high), 1_000_000) ** 2 / float(mechanism.high)

    reports = mechanism.perturb(values, seeded_coins(71))

    estimate = mechanism.estimate(mechanism.tally(reports))
    assert abs(estimate.values[0] - values.mean()) < Z * mechanism.stderr(values.size)


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_tallies_of_10_to_the_12_numbers_are_estimated(mechanism: Any) -> None:
    counts = np.zeros(mechanism.grid.steps + 1, dtype=np.int64)
    counts[[0, -1]] = [3 * 10**12 // 4, 10**12 // 4]

    estimate = mechanism.estimate(mechanism.simulate(counts, seeded_coins(72)))

    truth = float(mechanism.low + mechanism.grid.width / 4)
    assert estimate.n == 10**12
    assert abs(estimate.values[0] - truth) < Z * mechanism.stderr(10**12)
    assert estimate.values[1] == pytest.approx(10**12 * estimate.values[0])


@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.parametrize("values", [[np.nan], [0.5, np.inf], ["1"], [True], [[0.5]], [None]])
def test_what_is_no_finite_number_is_refused_by_all(mechanism: Mechanism, values: list[Any]) -> None:
    with pytest.raises(DomainError, match="finite numbers"):
        mechanism.perturb(np.array(values), system_coins())


@pytest.mark.parametrize("make", [OneBitMean, Piecewise, Hybrid, IntegerTable])
@pytest.mark.parametrize(("low", "high"), [("0", "0"), ("1", "0"), ("nan", "1"), (0.5, "1"), ("0", "inf")])
def test_a_range_that_is_none_is_refused_by_all(make: Any, low: Any, high: Any) -> None:
    with pytest.raises(DomainError, match="range"):
        make("1", low, high)


@pytest.mark.parametrize("make", [OneBitMean, Piecewise, Hybrid, IntegerTable])
@pytest.mark.parametrize("epsilon", ["nan", "0", "-1", "inf", "800", True, 0.5, None])
def test_an_epsilon_that_promises_nothing_is_refused_by_all(make: Any, epsilon: Any) -> None:
    with pytest.raises(DomainError, match="epsilon"):
        make(epsilon, "0", "1")


@pytest.mark.parametrize("make", [Piecewise, Hybrid])
@pytest.mark.parametrize("steps", [0, -1, 2**14 + 1, 2**20 + 1, True, 4.0, "4"])
def test_a_grid_too_fine_for_a_window_is_refused(make: Any, steps: Any) -> None:
    with pytest.raises(DomainError, match="steps must be"):
        make("1", "0", "1", steps=steps)


@pytest.mark.parametrize(
    ("epsilon", "rest"),
    [
        ("0.1", "not for 0.1$"),
        ("1.1", "not for 1.1; the next smaller is 1$"),
        ("20", "the next smaller is 8$"),
    ],
)
def test_an_epsilon_without_a_table_is_refused_and_the_next_smaller_named(epsilon: str, rest: str) -> None:
    with pytest.raises(DomainError, match=rest):
        IntegerTable(epsilon, "0", "1")


@pytest.mark.parametrize("edition", [0, 2, True, "1"])
def test_an_edition_of_the_tables_that_is_not_known_is_refused(edition: Any) -> None:
    with pytest.raises(DomainError, match="edition"):
        IntegerTable("1", "0", "1", edition=edition)


@pytest.mark.parametrize("row", FORMS, ids=lambda row: str(row["eps"]))
def test_the_error_of_one_bit_is_the_reference_one_everywhere(row: Any) -> None:
    mechanism = OneBitMean(str(row["eps"]), "-1", "1")

    found = {x: mechanism.meaning.squares[0] - float(x) ** 2 for x in ("0", "0.5", "1")}

    assert float(mechanism.reach) == pytest.approx(row["duchi_A"], rel=1e-12)
    assert found == pytest.approx(row["nvar_duchi"], rel=1e-9)
    assert mechanism.stderr(1) ** 2 == pytest.approx(row["nvar_duchi"]["0"], rel=1e-12)


@pytest.mark.parametrize("row", FORMS, ids=lambda row: str(row["eps"]))
def test_a_window_as_wide_as_published_has_the_reference_error(row: Any) -> None:
    steps, e = 2**14, OneBitMean(str(row["eps"]), "0", "1").p
    e = e / (1 - e)
    window = Window(steps + 1, round(steps * float(e) ** -0.5), e)
    moment = float(second_moment(window.p, window.q, window.width, steps))

    found = {x: moment + float(1 / window.inside - 1) * float(x) ** 2 for x in ("0", "0.5", "1")}

    assert found == pytest.approx(row["nvar_pm"], rel=2e-3)
    assert float(piecewise_error(first_digits(e), window.width, steps)) == pytest.approx(found["1"], rel=1e-3)


@pytest.mark.parametrize("row", [row for row in FORMS if row["hm_alpha"]], ids=lambda row: str(row["eps"]))
def test_a_hybrid_as_wide_as_published_has_the_reference_error_and_share(row: Any) -> None:
    steps, mechanism = 2**14, OneBitMean(str(row["eps"]), "0", "1")
    e = mechanism.p / mechanism.q
    window = Window(steps + 1, round(steps * float(e) ** -0.5), e)

    found = float(hybrid_error(first_digits(e), window.width, steps))

    assert float(window.inside) == pytest.approx(row["hm_alpha"], rel=2e-3)
    assert found == pytest.approx(row["nvar_hm"]["0"], rel=2e-3)


@pytest.mark.parametrize("row", FORMS, ids=lambda row: str(row["eps"]))
def test_the_best_widths_have_no_more_error_than_the_published_ones(row: Any) -> None:
    epsilon = str(row["eps"])

    errors = [make(epsilon, "-1", "1").stderr(1) ** 2 for make in (Piecewise, Hybrid)]

    assert errors[0] <= row["nvar_pm"]["1"]
    assert errors[1] <= row["nvar_hm"]["0"] * (1 + 1e-9)
    assert errors[1] <= errors[0]


@pytest.mark.parametrize("error", [piecewise_error, hybrid_error])
@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "1", "3.3", "8", "20"])
@pytest.mark.parametrize("steps", [1, 2, 5, 64])
def test_the_width_found_is_the_best_of_all(error: Any, epsilon: str, steps: int) -> None:
    mechanism = OneBitMean(epsilon, "0", "1")
    e = mechanism.p / mechanism.q

    found = best_width(e, steps, error)

    errors = [error(first_digits(e), width, steps) for width in range(1, 2 * steps + 1)]
    assert errors[found - 1] == min(errors)


def test_one_bit_is_better_alone_up_to_an_epsilon_and_never_beyond() -> None:
    shares = [float(Hybrid(f"0.{thousandths}", "0", "1").share) for thousandths in range(600, 612)]

    last = shares.index(next(filter(None, shares)))
    assert 0 < last < len(shares) - 1
    assert all(shares[last:])
    assert Hybrid("0.5", "0", "10").stderr(1) == pytest.approx(OneBitMean("0.5", "0", "10").stderr(1))


@pytest.mark.parametrize("row", TABLES, ids=lambda row: str(row["eps"]))
def test_a_table_is_at_least_as_good_as_the_reference_one(row: Any) -> None:
    assert IntegerTable(str(row["eps"]), "-1", "1").stderr(1) ** 2 <= row["worst_variance"]


@pytest.mark.parametrize("epsilon", QUARTERS)
def test_a_table_has_less_error_than_every_other_mechanism_for_means(epsilon: str) -> None:
    others = [make(epsilon, "-1", "1").stderr(1) for make in (OneBitMean, Piecewise, Hybrid, Laplace)]

    assert IntegerTable(epsilon, "-1", "1").stderr(1) < 0.998 * min(others)


SENTENCES = {
    ONE: (
        'your number, taken as within 0 and 10, is sent as a mere "low" or "high": "high" has probability '
        "26.9 % at 0, 73.1 % at 10, and in between in proportion"
    ),
    Piecewise("1", "0", "10"): (
        "your number, taken as within 0 and 10, is sent as one of 1819 numbers: as one of the 795 nearest to "
        "it with probability 67.8 %, else as any other"
    ),
    Hybrid("1", "0", "10"): (
        "your number, taken as within 0 and 10, is sent in one of two ways: with probability 58.4 % as a "
        'mere "low" or "high", "high" having probability 26.9 % at 0, 73.1 % at 10, and in between in '
        "proportion; else as one of 1749 numbers, one of the 725 nearest to it having probability 65.8 %"
    ),
    IntegerTable("1", "0", "10"): (
        "your number, taken as within 0 and 10, is sent as one of 23 numbers, drawn at random: one above the "
        "middle has probability 26.2 % at 0, 71.3 % at 10, and something in between for any other"
    ),
}


@pytest.mark.parametrize(("mechanism", "said"), SENTENCES.items(), ids=str)
def test_the_owner_is_told_how_a_number_is_sent(mechanism: Mechanism, said: str) -> None:
    assert mechanism.sentence(("0", "10")) == said


@pytest.mark.parametrize("epsilon", QUARTERS)
def test_a_report_above_the_middle_is_likeliest_at_the_upper_end_as_the_owner_is_told(epsilon: str) -> None:
    mechanism = IntegerTable(epsilon, "0", "1")
    above = [report for report in mechanism.outputs() if mechanism.table.numbers[report] > 0]

    chances = [
        sum(float(mechanism.likelihood(point, report)) for report in above)
        for point in range(mechanism.grid.steps + 1)
    ]

    assert min(chances) > chances[0] - 1e-9
    assert max(chances) < chances[-1] + 1e-9
