"""This package holds the domains, one file each: what a metric can ask for."""

from hubbub.domains.boolean import Boolean
from hubbub.domains.choice import MOST_OPTIONS, Choice
from hubbub.domains.choices import Choices
from hubbub.domains.key_value import KeyValue
from hubbub.domains.kinds import KINDS
from hubbub.domains.number import Number
from hubbub.domains.record import Record
from hubbub.domains.selection import Selection
from hubbub.domains.text import Text
from hubbub.domains.vector import Vector

__all__ = [
    "KINDS",
    "MOST_OPTIONS",
    "Boolean",
    "Choice",
    "Choices",
    "KeyValue",
    "Number",
    "Record",
    "Selection",
    "Text",
    "Vector",
]
