"""This file holds the arithmetic of the integers modulo a prime g: primes near a number, digits, inverses.

No g here is above 2**24, so that a product of two residues fits into the 64 bits of an integer.
"""

from math import isqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Whole = NDArray[np.integer[Any]]
Number = TypeVar("Number", int, Whole)  # one number, or an array of them


def is_prime(number: int) -> bool:
    """Tell whether a number has no divisor but 1 and itself.

    >>> [number for number in range(20) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


def prime_up_to(number: int) -> int:
    """Return the largest prime that is at most a number, but 2 below 2."""
    return next((prime for prime in range(number, 2, -1) if is_prime(prime)), 2)


def prime_from(number: int) -> int:
    """Return the smallest prime that is at least a number.

    >>> prime_up_to(55), prime_from(55)
    (53, 59)
    """
    while not is_prime(number):
        number += 1
    return number


def length(numbers: int, g: int) -> int:
    """Return how many digits base g it takes to tell so many numbers apart, at least one.

    >>> length(81, 3), length(82, 3)
    (4, 5)
    """
    digits = 1
    while g**digits < numbers:
        digits += 1
    return digits


def word(largest: int) -> "np.dtype[Any]":
    """Return the type that is fastest for numbers up to the largest."""
    return np.dtype(np.uint32 if largest < 1 << 32 else np.int64)


def modulo(numbers: Number, g: int) -> Number:
    """Return residues of numbers that are not negative, without numpy's slow %."""
    return numbers - numbers // g * g


def digits(numbers: Number, g: int, count: int) -> list[Number]:
    """Return the ``count`` lowest digits of numbers base g, the lowest first.

    >>> digits(5, 3, 3)
    [2, 1, 0]
    """
    found: list[Number] = []
    for _ in range(count):
        rest = numbers // g
        found.append(numbers - rest * g)
        numbers = rest
    return found


def dot(one: list[Number], other: list[Number], g: int) -> Number:
    """Return the sum of products, modulo g, of the digits of one number and another.

    >>> dot(digits(7, 3, 2), digits(8, 3, 2), 3)
    0
    """
    total = one[0] * other[0]
    for some, others in zip(one[1:], other[1:], strict=True):
        total = total + some * others
    return modulo(total, g)


def inverses(residues: Whole, g: int) -> Whole:
    """Return what each residue has to be multiplied by to make 1, and 0 for 0.

    >>> inverses(np.array([0, 1, 2, 3, 4]), 5).tolist()
    [0, 1, 3, 2, 4]
    """
    if residues.size > g:
        return inverses(np.arange(g), g)[residues]
    power, exponent, inverse = residues, g - 2, np.minimum(residues, 1)
    while exponent:  # Fermat: to the power of g - 1, each residue but 0 is 1
        if exponent % 2:
            inverse = modulo(inverse * power, g)
        power, exponent = modulo(power * power, g), exponent // 2
    return inverse
