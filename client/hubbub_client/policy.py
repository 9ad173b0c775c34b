"""This file holds the policy: what a device agrees to spend, whatever a manifest or a collector asks."""

from dataclasses import dataclass

from hubbub.delta import Delta, DeltaLike
from hubbub.epsilon import EpsilonLike, parse_micro
from hubbub.errors import DomainError
from hubbub.spending import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Caps on epsilon: of one report, in any 28 days, and for life; on one source and over all.

    There is always a cap for life, since a budget that refills for ever protects nobody.
    delta: the chance, added up for life, that a mechanism fails its epsilon; none by default.
    metrics: how many metrics a device answers in its life.

    >>> Policy(report="0.5").limits.report
    500000
    >>> Policy(life=None)
    Traceback (most recent call last):
    hubbub.errors.DomainError: life must be a string, integer or Decimal, got NoneType; write it like "0.5"
    """

    report: EpsilonLike = "4"
    source_window: EpsilonLike = "8"
    window: EpsilonLike = "16"
    source_life: EpsilonLike = "64"
    life: EpsilonLike = "128"
    delta: DeltaLike = "0"
    metrics: int = 32

    def __post_init__(self) -> None:
        if isinstance(self.metrics, bool) or not isinstance(self.metrics, int) or self.metrics < 0:
            raise DomainError("metrics must be a whole number, 0 or more")
        _ = self.limits

    @property
    def limits(self) -> Limits:
        """The same caps in millionths of epsilon."""
        return Limits(
            report=_micro("report", self.report),
            source_window=_micro("source_window", self.source_window),
            window=_micro("window", self.window),
            source_life=_micro("source_life", self.source_life),
            life=_micro("life", self.life),
            delta=Delta.parse(self.delta).atto,
            metrics=self.metrics,
        )


def _micro(what: str, value: EpsilonLike) -> int:
    return parse_micro(value, what=what)
