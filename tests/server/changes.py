"""This file makes changes for a store, without an intake before it."""

import hashlib
from dataclasses import replace

import numpy as np

from hubbub.tally import Tally
from hubbub_server.store.records import Deposit, Portion, Withdrawal

METRIC = b"\1" * 32
ALL = range(2**31)  # periods
FOREVER = 2**40  # no day comes after it


def deposit(name: str, ones: int = 1, *, forget_after: int = FOREVER, digest: bytes = b"d" * 32) -> Deposit:
    """Return a batch of as many reports, all 1, of a metric with two cells."""
    reports = bytes([1]) * ones
    portion = Portion(METRIC, 7, b"", 60, add_up(METRIC, reports), reports)
    return Deposit(_hash(name), digest, forget_after, b'{"accepted":1}', (portion,))


def unsummed(name: str, ones: int = 1, *, forget_after: int = FOREVER) -> Deposit:
    """Return such a batch whose reports are to be added up later."""
    made = deposit(name, ones, forget_after=forget_after)
    alone = Tally(ones, np.zeros(0, np.int64))
    return replace(made, portions=tuple(replace(each, tally=alone) for each in made.portions))


def withdrawal(name: str) -> Withdrawal:
    """Return the withdrawal of a batch."""
    return Withdrawal(_hash(name), FOREVER, add_up)


def add_up(metric: bytes, reports: bytes) -> Tally:
    """Count zeros and ones."""
    assert metric == METRIC
    return Tally(len(reports), np.bincount(np.frombuffer(reports, np.uint8), minlength=2))


def _hash(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()
