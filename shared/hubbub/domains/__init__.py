"""This package holds the domains, one file each: what a metric can ask for."""

from hubbub.domains.boolean import Boolean
from hubbub.domains.choice import MOST_OPTIONS, Choice
from hubbub.domains.number import Number
from hubbub.domains.vector import Vector

KINDS = {domain.kind: domain for domain in (Boolean, Choice, Number, Vector)}

__all__ = ["KINDS", "MOST_OPTIONS", "Boolean", "Choice", "Number", "Vector"]
