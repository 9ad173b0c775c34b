"""This package is the device: what may be asked, what was spent, what leaves."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hubbub_client.client import Client
    from hubbub_client.delivery import Delivery
    from hubbub_client.outcome import Flushed, Recorded, Skipped, Stats
    from hubbub_client.policy import Policy

__all__ = ["Client", "Delivery", "Flushed", "Policy", "Recorded", "Skipped", "Stats"]

_HOMES = {"Client": "client", "Delivery": "delivery", "Policy": "policy"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for, so that importing the package costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'outcome')}"), name)
