"""This file holds a real number that hands out as many correct digits as are asked for.

A number is a formula over rationals. Decimal arithmetic encloses it, rounding one end down and the other up,
with twice the digits until the answer is decided; no float takes part. `decimal` rounds + - * / in the
direction asked for, but exp and ln only to nearest, so there each end moves one place outward.
"""

import math
import operator
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

from hubbub.errors import DomainError

Operand: TypeAlias = "Real | Fraction | int"
Interval: TypeAlias = tuple[Decimal, Decimal]

_ZERO, _INFINITY = Decimal(0), Decimal("Infinity")
_ANYTHING = (-_INFINITY, _INFINITY)
_DOUBLINGS = 8


class Real:
    """A real number built from rationals by + - * /, whole powers, exp and log.

    exact: its value if only rationals went in, else None.

    >>> e = Real.exp(1)
    >>> p = e / (e + 3)
    >>> p.leading(8), float(p)
    (121, 0.4753668864186717)
    """

    __slots__ = ("_known", "_leading", "_nearest", "_parts", "_rule", "exact")

    exact: Fraction | None
    _rule: "Rule"
    _parts: "tuple[Real, ...]"
    _known: tuple[int, Interval]  # how many digits the last enclosure was computed with, and the enclosure
    _leading: dict[int, int]
    _nearest: float | None

    def __init__(self, value: Fraction | int) -> None:
        if isinstance(value, bool) or not isinstance(value, int | Fraction):
            raise DomainError(f"a real number is built from int and Fraction, got {type(value).__name__}")
        self.exact, self._rule, self._parts = Fraction(value), _nothing, ()
        self._known, self._leading, self._nearest = (0, _ANYTHING), {}, None

    @classmethod
    def _formula(cls, rule: "Rule", *parts: Operand) -> "Real":
        number = cls(0)
        number.exact, number._rule, number._parts = None, rule, tuple(map(_real, parts))
        return number

    @classmethod
    def exp(cls, exponent: Operand) -> "Real":
        """Return e to the power of ``exponent``."""
        return cls(1) if _real(exponent).exact == 0 else cls._formula(_exp, exponent)

    @classmethod
    def log(cls, number: Operand) -> "Real":
        """Return the natural logarithm of a positive ``number``."""
        return cls(0) if _real(number).exact == 1 else cls._formula(_log, number)

    @classmethod
    def _combine(
        cls, exactly: Callable[[Fraction, Fraction], Fraction], rule: "Rule", left: Operand, right: Operand
    ) -> "Real":
        a, b = _real(left).exact, _real(right).exact
        return cls._formula(rule, left, right) if a is None or b is None else cls(exactly(a, b))

    def enclose(self, bits: int) -> tuple[Fraction, Fraction]:
        """Return a lower and an upper bound that are at most 2**-bits apart."""
        if self.exact is not None:
            return self.exact, self.exact
        for lower, upper in self._scaled(bits + 2):
            low, high = int(lower.to_integral_value(ROUND_FLOOR)), int(upper.to_integral_value(ROUND_CEILING))
            if high - low <= 4:
                return Fraction(low, 4 << bits), Fraction(high, 4 << bits)
        raise _undecided()

    def leading(self, bits: int) -> int:
        """Return the largest integer that is at most 2**bits times this number: its first binary digits."""
        if bits not in self._leading:
            self._leading[bits] = self._floor(bits)
        return self._leading[bits]

    def _floor(self, bits: int) -> int:
        if self.exact is not None:
            return (self.exact.numerator << bits) // self.exact.denominator
        for lower, upper in self._scaled(bits):
            low = int(lower.to_integral_value(ROUND_FLOOR))
            if upper < low + 1:
                return low
        raise _undecided()

    def __float__(self) -> float:
        """Return the nearest float."""
        if self._nearest is None:
            self._nearest = self._rounded()
        return self._nearest

    def _rounded(self) -> float:
        if self.exact is not None:
            return float(self.exact)
        for _, (lower, upper) in self._enclosures(24):
            if float(lower) == float(upper):
                return float(lower)
        raise _undecided()

    def _scaled(self, bits: int) -> Iterator[Interval]:
        """Enclose 2**bits times this number, ever more narrowly."""
        factor = Decimal(1 << bits)
        for at, (lower, upper) in self._enclosures(bits // 3 + 9):
            if lower.is_finite() and upper.is_finite():
                yield at.down.multiply(lower, factor), at.up.multiply(upper, factor)

    def _enclosures(self, digits: int) -> "Iterator[tuple[_Rounding, Interval]]":
        for doubling in range(_DOUBLINGS):
            at = _Rounding(digits << doubling)
            yield at, self._at(at)

    def _at(self, at: "_Rounding") -> Interval:
        if self._known[0] != at.digits:
            self._known = at.digits, self._computed(at)
        return self._known[1]

    def _computed(self, at: "_Rounding") -> Interval:
        if self.exact is not None:
            above, below = Decimal(self.exact.numerator), Decimal(self.exact.denominator)
            return at.down.divide(above, below), at.up.divide(above, below)
        try:
            return self._rule(at, *[part._at(at) for part in self._parts])  # noqa: SLF001 - parts are of this class
        except InvalidOperation:  # such as infinity minus infinity: so few digits tell nothing
            return _ANYTHING

    def __repr__(self) -> str:
        return f"Real({float(self) if self.exact is None else self.exact})"

    def __add__(self, other: Operand) -> "Real":
        return self._combine(operator.add, _add, self, other)

    def __radd__(self, other: Operand) -> "Real":
        return self._combine(operator.add, _add, other, self)

    def __sub__(self, other: Operand) -> "Real":
        return self._combine(operator.sub, _subtract, self, other)

    def __rsub__(self, other: Operand) -> "Real":
        return self._combine(operator.sub, _subtract, other, self)

    def __mul__(self, other: Operand) -> "Real":
        return self._combine(operator.mul, _multiply, self, other)

    def __rmul__(self, other: Operand) -> "Real":
        return self._combine(operator.mul, _multiply, other, self)

    def __truediv__(self, other: Operand) -> "Real":
        return self._combine(operator.truediv, _divide, self, other)

    def __rtruediv__(self, other: Operand) -> "Real":
        return self._combine(operator.truediv, _divide, other, self)

    def __pow__(self, exponent: int) -> "Real":
        if exponent < 0:
            return 1 / self**-exponent
        if exponent < 2:
            return self if exponent else Real(1)
        half = self ** (exponent // 2)
        return half * half * self if exponent % 2 else half * half


def percent(probability: Real) -> str:
    """Write a probability for people, with three digits of what is likelier not to be.

    >>> percent(Real(Fraction(2, 3))), percent(Real(1 - Fraction(1, 10**6)))
    ('66.7 %', '99.9999 %')
    """
    number, rest = float(100 * probability), float(100 - 100 * probability)
    places = 0 if not number or not rest else max(0, 2 - math.floor(math.log10(min(number, rest))))
    text = f"{number:.{places}f}"
    return f"{text.rstrip('0').rstrip('.') if places else text} %"


class _Rounding:
    """Decimal arithmetic of so many digits, rounding down or up."""

    __slots__ = ("digits", "down", "up")

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self.down = Context(digits, ROUND_FLOOR, MIN_EMIN, MAX_EMAX, traps=[InvalidOperation])
        self.up = Context(digits, ROUND_CEILING, MIN_EMIN, MAX_EMAX, traps=[InvalidOperation])


Rule: TypeAlias = Callable[..., Interval]  # (rounding, one interval an operand) -> interval


def _nothing(_: _Rounding) -> Interval:
    return _ANYTHING


def _add(at: _Rounding, a: Interval, b: Interval) -> Interval:
    return at.down.add(a[0], b[0]), at.up.add(a[1], b[1])


def _subtract(at: _Rounding, a: Interval, b: Interval) -> Interval:
    return at.down.subtract(a[0], b[1]), at.up.subtract(a[1], b[0])


def _multiply(at: _Rounding, a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return at.down.multiply(a[0], b[0]), at.up.multiply(a[1], b[1])
    corners = [(x, y) for x in a for y in b]
    return min(at.down.multiply(*xy) for xy in corners), max(at.up.multiply(*xy) for xy in corners)


def _divide(at: _Rounding, a: Interval, b: Interval) -> Interval:
    if b[0] <= 0 <= b[1]:
        return _ANYTHING
    if a[0] >= 0 and b[0] > 0:
        return at.down.divide(a[0], b[1]), at.up.divide(a[1], b[0])
    corners = [(x, y) for x in a for y in b]
    return min(at.down.divide(*xy) for xy in corners), max(at.up.divide(*xy) for xy in corners)


def _exp(at: _Rounding, a: Interval) -> Interval:
    return max(_ZERO, at.down.next_minus(at.down.exp(a[0]))), at.up.next_plus(at.up.exp(a[1]))


def _log(at: _Rounding, a: Interval) -> Interval:
    if a[0] <= 0:
        return _ANYTHING
    return at.down.next_minus(at.down.ln(a[0])), at.up.next_plus(at.up.ln(a[1]))


def _real(value: Operand) -> Real:
    return value if isinstance(value, Real) else Real(value)


def _undecided() -> DomainError:
    return DomainError("a number could not be told from a rational one; write it as a fraction")
