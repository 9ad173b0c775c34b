"""This file proves that a domain takes its own values, and refuses all others without naming them."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hubbub.domains.boolean import Boolean
from hubbub.domains.choice import MOST_OPTIONS, Choice
from hubbub.domains.number import Number
from hubbub.domains.plain import check_texts, plain_decimal
from hubbub.errors import DomainError

SECRET = "s3ntinel"
SYSTEMS = Choice(("linux", "mac", "other"))
TEN = Number(Decimal(0), Decimal(10))
decimals = some.decimals(min_value="-1e20", max_value="1e20", allow_nan=False, allow_infinity=False)


def test_yes_and_no_are_one_and_zero() -> None:
    values = [Boolean().encode(value) for value in (False, True, np.False_, np.True_)]

    assert values == [0, 1, 0, 1]
    assert {type(value) for value in values} == {int}


@pytest.mark.parametrize(
    "value", [0, 1, 1.0, "yes", "True", None, [], np.int8(1), np.array([True]), Decimal(1), SECRET]
)
def test_nothing_else_is_yes_or_no(value: object) -> None:
    with pytest.raises(DomainError, match="True or False") as caught:
        Boolean().encode(value)

    assert SECRET not in str(caught.value)


def test_a_type_that_is_not_pythons_own_is_named_with_where_it_comes_from() -> None:
    with pytest.raises(DomainError, match=r"got a value of type numpy\.bool$"):
        TEN.encode(np.True_)


def test_options_are_counted_in_their_order() -> None:
    assert [SYSTEMS.encode(option) for option in SYSTEMS.names] == [0, 1, 2]


@pytest.mark.parametrize("value", ["Linux", "linux ", "", "window", 0, 1, True, None, ["linux"], SECRET])
def test_what_is_no_option_is_refused_and_never_named(value: object) -> None:
    with pytest.raises(DomainError) as caught:
        SYSTEMS.encode(value)

    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        *(
            (),
            ("a",),
            ("a", "a"),
            ("a", ""),
            ("a", " b"),
            ("a", "b "),
            ("a", "b\n"),
            ("a", "b\0"),
            ("a", "\u200b"),
        ),
        *(("a", "x" * 101), ("a", "e\u0301"), ("a", 1), ("a", None), ("a", b"b")),
        tuple(map(str, range(MOST_OPTIONS + 1))),
    ],
)
def test_options_are_two_or_more_clean_different_texts(options: tuple[str, ...]) -> None:
    with pytest.raises(DomainError):
        Choice(options)


def test_as_many_options_as_allowed_are_taken() -> None:
    assert len(Choice(tuple(map(str, range(MOST_OPTIONS)))).names) == MOST_OPTIONS


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3.0), (2.5, 2.5), (-4, -4.0), (Decimal("0.1"), 0.1), (Fraction(1, 4), 0.25), (np.float32(0.5), 0.5)],
)
def test_a_number_is_encoded_as_it_is(value: object, number: float) -> None:
    assert TEN.encode(value) == number


@pytest.mark.parametrize(
    "value",
    [
        *(
            math.nan,
            math.inf,
            -math.inf,
            Decimal("nan"),
            Decimal("sNaN"),
            Decimal("inf"),
            10**400,
            -(10**400),
        ),
        *(True, False, "3", None, [3], 3j, b"3", np.nan, SECRET),
    ],
)
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises(DomainError) as caught:
        TEN.encode(value)

    assert SECRET not in str(caught.value)


@given(some.decimals(-1000, 1000, places=12).map(float))
def test_the_plain_form_of_a_number_lies_in_the_range_and_is_its_own(value: float) -> None:
    plain = TEN.plain(value)

    assert 0 <= Decimal(plain) <= 10
    assert TEN.plain(plain) == plain


@pytest.mark.parametrize("value", ["", "ten", "1_0", "１", "nan", "inf", "1e400", "0x1", " 1", "1 "])
def test_the_plain_form_of_no_number_is_refused(value: str) -> None:
    with pytest.raises(DomainError):
        TEN.plain(value)


@pytest.mark.parametrize(
    ("ends", "names"),
    [
        ([0, 10], ("0", "10")),
        ([-1, 10], ("-1", "10")),
        ((-10, -2), ("-10", "-2")),
        (["-0.0", "1e2"], ("0", "100")),
        ([0.1, 0.3], ("0.1", "0.3")),
        (["0.10", Decimal("0.30")], ("0.1", "0.3")),
        ([-1e-7, 1e7], ("-0.0000001", "10000000")),
    ],
)
def test_a_range_is_read_exactly(ends: object, names: tuple[str, str]) -> None:
    assert Number.parse(ends).names == names


@pytest.mark.parametrize(
    "ends",
    [
        *(
            [],
            [1],
            [1, 2, 3],
            "01",
            {"low": 0},
            None,
            5,
            [0, 0],
            [10, 0],
            [0, None],
            [False, True],
            [[0], [1]],
        ),
        *([0, math.inf], [-math.inf, 0], [math.nan, 1], ["nan", 1], [0, "inf"], [0, "sNaN"], ["a", "b"]),
        *(
            ["1_0", 20],
            ["１", 20],
            [" 1", 20],
            [0, "1.1e30"],
            [0, "9e-31"],
            [0, "1e41"],
            [f"1e-{41}", 1],
            [0, 10**101],
            ["1", "1.0000000001"],
        ),
        *(["1e-999999", 1], ["1e999999", 1], [0, "1" * 41], [0, "1e99999999999999999999"], [b"0", b"1"]),
    ],
)
def test_a_range_that_no_device_could_use_is_refused(ends: object) -> None:
    with pytest.raises(DomainError):
        Number.parse(ends)


@given(decimals)
def test_a_plain_decimal_is_the_number(number: Decimal) -> None:
    text = plain_decimal(number)

    assert Decimal(text) == number
    assert "E" not in text
    assert not text.endswith(".")
    assert text != "-0"


def test_an_error_says_which_list_and_where() -> None:
    with pytest.raises(DomainError, match=r"values of label version .* not so at 1"):
        check_texts("values of label version", ("a", " b"), least=2, most=32)


@pytest.mark.parametrize("ends", [[0, "1e30"], ["-1e30", 0], [0, "1e-30"], ["-1.2345e-30", "1e-30"]])
def test_the_plain_form_of_a_range_is_read_back(ends: list[object]) -> None:
    number = Number.parse(ends)

    assert Number.parse(list(number.names)) == number
