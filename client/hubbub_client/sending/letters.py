"""This file holds letters, which are what a device sends a collector: a batch, or the wish to have one back.

A letter is a row of the journal whose status says that something has to be sent. Both kinds wait, leave, are
tried again and are settled in the same way.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hubbub.batch import BINARY, decode
from hubbub_client.sending.delivery import Verdict, judge_batch, judge_withdrawal
from hubbub_client.sending.envelope import pack
from hubbub_client.sending.transport import Answer


@dataclass(frozen=True, slots=True)
class Kind:
    """What is particular about one kind of letter.

    content: what to send, made of a batch's bytes. needs_consent: a batch leaves with its owner's consent
    only; a withdrawal is the owner's own wish.
    """

    path: str
    content_type: str
    content: Callable[[bytes], bytes]
    judge: Callable[[Answer], Verdict]
    needs_consent: bool


def withdrawal(batch: bytes) -> bytes:
    """Write the wish to have a batch back: its id, alone."""
    return json.dumps({"id": decode(batch).id.hex()}).encode()


KINDS: Mapping[str, Kind] = {  # by the status of the row
    "waiting": Kind("/v1/batches", BINARY, bytes, judge_batch, needs_consent=True),
    "withdrawing": Kind(
        "/v1/withdrawals", "application/json", withdrawal, judge_withdrawal, needs_consent=False
    ),
}


@dataclass(frozen=True, slots=True)
class Letter:
    """Something to send.

    number, status: of its row in the journal. batch: the bytes of that row. leased: as it was before.
    """

    number: int
    status: str
    metric: str
    batch: bytes
    leased: int

    @property
    def kind(self) -> Kind:
        """What it is."""
        return KINDS[self.status]

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its request, the same on every device."""
        return {"Content-Type": self.kind.content_type, "Content-Encoding": "gzip"}

    @property
    def body(self) -> bytes:
        """The body of its request, the same at every try."""
        return pack(self.kind.content(self.batch))
