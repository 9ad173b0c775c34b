"""This file reads answers that say something about several names: a mapping, or its plain form.

The plain form is pairs in the order declared, with numbers as text: JSON, and so an id, can carry it.
"""

from collections.abc import Container, Mapping

from hubbub.domains.plain import article, decimal
from hubbub.errors import DomainError


def facts(value: object, known: Container[str]) -> dict[str, object]:
    """Return what is said about each name.

    Raises DomainError if value is neither form, or has a name that is not known, or one twice.

    >>> facts([("startup", "2.5")], known={"startup"})
    {'startup': '2.5'}
    """
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
    ):
        raise DomainError(f"value must be a mapping of names, got {article(value)}")
    if not all(isinstance(name, str) and name in known for name, _ in pairs):
        raise DomainError("value has a name that the metric does not list")
    said = dict(pairs)
    if len(said) < len(pairs):
        raise DomainError("value has a name twice")
    return said


def number_in(value: object, fact: object) -> object:
    """Return a number of a value; only in the plain form it may be text.

    Raises DomainError.
    """
    return decimal(fact) if isinstance(fact, str) and not isinstance(value, Mapping) else fact
