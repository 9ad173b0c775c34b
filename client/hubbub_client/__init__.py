"""This package is the device: what may be asked, what was spent, what leaves."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hubbub_client.client import Client
    from hubbub_client.consent import State
    from hubbub_client.outcome import Flushed, Recorded, Skipped, Stats, Withdrawn
    from hubbub_client.policy import Policy
    from hubbub_client.preview import Preview
    from hubbub_client.sending.delivery import Delivery
    from hubbub_client.storage.journal import Entry
    from hubbub_client.timing import Timer

__all__ = [
    "Client",
    "Delivery",
    "Entry",
    "Flushed",
    "Policy",
    "Preview",
    "Recorded",
    "Skipped",
    "State",
    "Stats",
    "Timer",
    "Withdrawn",
]

_HOMES = {
    "Client": "client",
    "Delivery": "sending.delivery",
    "Entry": "storage.journal",
    "Policy": "policy",
    "Preview": "preview",
    "State": "consent",
    "Timer": "timing",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for, so that importing the package costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'outcome')}"), name)
