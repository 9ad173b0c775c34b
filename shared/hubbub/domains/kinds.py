"""This file lists the domains: one line each.

A domain's module is imported when a metric is of its kind, so that an app pays for no other.
"""

from dataclasses import dataclass
from importlib import import_module

from hubbub.domain import Domain


@dataclass(frozen=True, slots=True)
class Kind:
    """A domain's class, as "module:class" in this package, and its own keys in a metric's table."""

    where: str
    keys: tuple[str, ...] = ()

    @property
    def domain(self) -> type[Domain]:
        """The class, imported when asked for."""
        module, name = self.where.split(":")
        found: type[Domain] = getattr(import_module(f"hubbub.domains.{module}"), name)
        return found


KINDS = {
    "boolean": Kind("boolean:Boolean"),
    "choice": Kind("choice:Choice", ("options",)),
    "number": Kind("number:Number", ("range",)),
    "text": Kind("text:Text", ("length",)),
    "choices": Kind("choices:Choices", ("options", "most")),
    "record": Kind("record:Record", ("attributes",)),
    "key_value": Kind("key_value:KeyValue", ("keys", "range", "most")),
    "vector": Kind("vector:Vector", ("size", "norm")),
    "selection": Kind("selection:Selection", ("options",)),
}
