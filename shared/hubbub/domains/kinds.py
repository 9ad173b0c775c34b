"""This file lists the domains by their kind in a manifest: one name each."""

from hubbub.domain import Domain
from hubbub.domains.boolean import Boolean
from hubbub.domains.choice import Choice
from hubbub.domains.choices import Choices
from hubbub.domains.key_value import KeyValue
from hubbub.domains.number import Number
from hubbub.domains.record import Record
from hubbub.domains.selection import Selection
from hubbub.domains.text import Text
from hubbub.domains.vector import Vector

KINDS: dict[str, type[Domain]] = {
    domain.kind: domain
    for domain in (Boolean, Choice, Number, Text, Choices, Record, KeyValue, Vector, Selection)
}
