"""This file holds what a device goes by: its caps, and how its batches travel."""

from dataclasses import dataclass

from hubbub.spending import Limits
from hubbub_client.sending.delivery import Delivery


@dataclass(frozen=True, slots=True)
class Rules:
    """What an app and an owner agreed on, for every metric."""

    limits: Limits
    delivery: Delivery
