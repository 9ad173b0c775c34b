"""This file proves that epsilon is exact: no float, no rounding, no number that only looks legal."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hubbub.epsilon import HIGHEST, LOWEST, Epsilon, decimal_text, parse_micro
from hubbub.errors import DomainError

micros = some.integers(LOWEST, HIGHEST)


@given(micros)
def test_every_epsilon_comes_back_from_its_text(micro: int) -> None:
    epsilon = Epsilon(micro)

    assert Epsilon.parse(str(epsilon)) == epsilon
    assert Epsilon.parse(Decimal(str(epsilon))) == epsilon
    assert Epsilon.parse(epsilon) is epsilon
    assert Fraction(str(epsilon)) == epsilon.exact


@pytest.mark.parametrize(
    "same", ["1", "1.0", "1.000000", "01", "1.00000000000", 1, Decimal("1.00"), Decimal("1E0")]
)
def test_one_number_has_one_epsilon(same: str | int | Decimal) -> None:
    assert Epsilon.parse(same) == Epsilon(1_000_000)
    assert str(Epsilon.parse(same)) == "1"


def test_ten_tenths_are_one() -> None:
    assert sum(Epsilon.parse("0.1").micro for _ in range(10)) == Epsilon.parse(1).micro


@pytest.mark.parametrize("number", [1.0, 0.1, float("nan"), float("inf"), -0.0])
def test_a_float_is_refused_with_the_way_out(number: float) -> None:
    with pytest.raises(DomainError, match="write epsilon as a string"):
        Epsilon.parse(number)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [True, False, None, [], {}, b"1", object(), Fraction(1), 1j])
def test_another_type_is_refused(other: object) -> None:
    with pytest.raises(DomainError, match="string, integer or Decimal"):
        Epsilon.parse(other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            " 1",
            "1 ",
            "1\n",
            "+1",
            "-1",
            "-0",
            ".5",
            "5.",
            "1e0",
            "1E1",
            "0x1",
            "1_0",
            "1,0",
            "1.2.3",
        ),
        *(
            "nan",
            "inf",
            "-inf",
            "Infinity",
            "sNaN",
            "٣",
            "１",
            "½",
            "one",
            "1/2",
            "9" * 5000,
            "0." + "0" * 5000,
        ),
        *(Decimal("nan"), Decimal("inf"), Decimal(-1), Decimal("1E+400"), Decimal("1E-400")),
    ],
)
def test_what_is_no_plain_decimal_is_refused(text: str | Decimal) -> None:
    with pytest.raises(DomainError):
        Epsilon.parse(text)


@pytest.mark.parametrize("text", ["0", "0.000999", "20.000001", "21", "800", 0, 21, "999999999"])
def test_epsilon_is_from_a_thousandth_to_twenty(text: str | int) -> None:
    with pytest.raises(DomainError, match=r"from 0\.001 to 20"):
        Epsilon.parse(text)


@pytest.mark.parametrize("text", ["0.0010001", "1.0000001", "0.1234567", Decimal("1E-7") + 1])
def test_a_seventh_decimal_is_refused_and_not_rounded(text: str | Decimal) -> None:
    with pytest.raises(DomainError, match="at most 6 decimals"):
        Epsilon.parse(text)


def test_the_ends_are_allowed() -> None:
    assert [str(Epsilon.parse(text)) for text in ("0.001", "20")] == ["0.001", "20"]


def test_an_error_names_what_it_is_about() -> None:
    with pytest.raises(DomainError, match="a budget must be a plain decimal"):
        parse_micro("many", what="a budget")


@given(some.integers(-(10**12), 10**12))
def test_decimal_text_is_exact(micro: int) -> None:
    text = decimal_text(micro)

    assert Fraction(text) * 1_000_000 == micro
    assert not text.endswith(".")
    assert "e" not in text
