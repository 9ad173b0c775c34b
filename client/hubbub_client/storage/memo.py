"""This file keeps permanent answers: memos, drawn once from the operating system's coins, never from a key.

How many are ever drawn is bounded by the metric and paid for with the first one, whatever the values are.
Where only the first state of a value may have a memo, no later value is looked at. Where every state may, all
memos are drawn at once, so that they tell nothing; but who has the file can compare the journal's reports
with them. Between the two a memo lies under a keyed hash of the state that it was drawn for; the key being in
the same file, who has that can try out all states.
"""

import hashlib
import hmac
import sqlite3
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.coins import Coins
from hubbub.longitudinal import Longitudinal, Memos
from hubbub.metric import Metric

MOST = 4096  # memos of one metric
_EXISTS = "SELECT EXISTS (SELECT 1 FROM memo WHERE metric = ?)"
_OWN = "SELECT state, memo FROM memo WHERE metric = ? ORDER BY number"
_KEEP = "INSERT INTO memo (metric, state, memo) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Memory:
    """What a device remembers of one metric; id: the metric's."""

    connection: sqlite3.Connection
    metric: Metric
    id: bytes
    mechanism: Longitudinal

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever answered."""
        return not self.connection.execute(_EXISTS, (self.id,)).fetchone()[0]

    @property
    def most(self) -> int:
        """How many memos there may be."""
        return min(self.metric.changes + 1, self.mechanism.states)

    @property
    def price(self) -> int:
        """What the next answer costs, in millionths of epsilon: the first one all, the others nothing."""
        return self.mechanism.reservation(self.metric.changes) if self.is_empty else 0

    def recall(self, value: object, coins: Coins) -> Memos:
        """Return the memo to answer from, one row, and draw it if need be; the caller commits.

        After the last change that may be, a new state is answered from the memo that was drawn last.
        """
        held = np.array([value])
        kept = self._kept()
        if not kept:
            kept = self._keep(self._first(held, coins))
        latest = next(reversed(kept.values()))
        if self.most == 1:
            return latest
        state = self._name(int(self.mechanism.state(held, latest)[0]))
        if state not in kept and len(kept) < self.most:
            kept = self._keep({state: self.mechanism.memoize(held, coins, earlier=latest)})
        return kept.get(state, latest)

    def _first(self, held: Any, coins: Coins) -> dict[bytes, Memos]:
        """Draw a memo, and those for all other states if they may be."""
        memo = self.mechanism.memoize(held, coins)
        if self.most == 1:
            return {b"": memo}
        own = int(self.mechanism.state(held, memo)[0])
        if self.most < self.mechanism.states:
            return {self._name(own): memo}
        values = np.arange(len(self.mechanism.rows))
        found = self.mechanism.state(values, np.broadcast_to(memo, (len(values), *memo.shape[1:])))
        states, holders = np.unique(found, return_index=True)
        others = np.broadcast_to(memo, (len(states), *memo.shape[1:]))
        drawn = self.mechanism.memoize(values[holders], coins, earlier=others)
        each = {int(state): drawn[at : at + 1] for at, state in enumerate(states)}
        return {self._name(state): one for state, one in (each | {own: memo}).items()}

    def _name(self, state: int) -> bytes:
        """Name a state: by its number, unless it would tell that the device was ever in it."""
        number = state.to_bytes(4, "little")
        if self.most == self.mechanism.states:
            return number
        (secret,) = self.connection.execute("SELECT secret FROM device").fetchone()
        return hmac.digest(secret, self.id + number, hashlib.sha256)

    def _kept(self) -> dict[bytes, Memos]:
        layout = self.mechanism.memo_layout
        rows = self.connection.execute(_OWN, (self.id,)).fetchall()
        return {state: np.frombuffer(memo, layout.base).reshape(1, *layout.shape) for state, memo in rows}

    def _keep(self, memos: dict[bytes, Memos]) -> dict[bytes, Memos]:
        rows = [(self.id, state, memo.tobytes()) for state, memo in memos.items()]
        self.connection.executemany(_KEEP, rows)
        return memos
