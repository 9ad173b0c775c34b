"""This file shows what would leave a device: reports drawn as in earnest, and thrown away.

Nothing is charged, stored or sent, no consent is needed, and no file is touched.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hubbub import registry
from hubbub.errors import DomainError
from hubbub.wording import odds, words
from hubbub_client.answering.system_coins import system_coins

if TYPE_CHECKING:
    from hubbub_client.session import Session

MOST = 1000  # draws
_LISTED = 10  # odds that are said, the highest
_MEMO = "each of these draws has a permanent answer of its own behind it; a device draws one, and keeps it"


@dataclass(frozen=True, slots=True)
class Draw:
    """One report as it would leave, and in words."""

    report: bytes
    words: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What might leave for one value.

    note: what is not as in earnest, or "". odds: sentences, where the chances can be listed; () for others,
    such as a number, which only draws show. They are those of the value, and many draws show it, so its repr
    is silent about both. To print it shows them to the owner; no log should have them.
    """

    metric: str
    draws: tuple[Draw, ...] = field(repr=False)
    note: str
    odds: tuple[str, ...] = field(repr=False)

    def __str__(self) -> str:
        """Say what was drawn, how often, and the odds, in lines."""
        said = Counter(draw.words for draw in self.draws).most_common(_LISTED)
        lines = [f"{count} of {len(self.draws)} draws: {words}" for words, count in said]
        return "\n".join([f'"{self.metric}"', *lines, *self.odds, *filter(None, [self.note])])


def preview(session: "Session", name: str, value: object, draws: int) -> Preview:
    """Draw reports of a value with the operating system's coins.

    Raises DomainError for an unknown or paused metric, for a value that it does not take, without naming it,
    for draws outside 1 to 1,000, and if the metric's mechanism is still open.
    """
    metric = session.settings.manifest[name]
    if session.settings.maker_key is not None:  # who may have changed its price
        asked = session.recorder.questions.asked(metric)
        if asked is None:
            raise DomainError(f'"{name}" is paused by the app\'s maker, so nothing leaves')
        metric = asked
    if isinstance(draws, bool) or not isinstance(draws, int) or not 1 <= draws <= MOST:
        raise DomainError(f"draws must be a whole number from 1 to {MOST}")
    with session.importing():  # the mechanism's own file
        mechanism = registry.build(metric)
    domain, coins = metric.domain, system_coins()
    try:
        encoded = domain.encode(value)
        reports = mechanism.perturb(np.array([encoded] * draws), coins)
        drawn = tuple(
            Draw(reports[at : at + 1].tobytes(), words(mechanism, domain, reports[at : at + 1]))
            for at in range(draws)
        )
        chances = odds(mechanism, domain, encoded, coins)
    except DomainError as error:
        raise DomainError(f'"{metric.name}": {error}') from None
    except Exception as error:  # its text may hold the value
        raise DomainError(f'"{metric.name}": this value can\'t be read ({type(error).__name__})') from None
    likeliest = sorted(chances.items(), key=lambda item: -item[1])[:_LISTED]
    return Preview(
        metric.name,
        drawn,
        _MEMO if registry.entry(metric.mechanism).remembers else "",
        tuple(
            f'of 1,000 draws of this value about {1000 * chance:.0f} speak for "{name}"'
            for name, chance in likeliest
        ),
    )
