"""This file says what a kind of crowd is: a module with these two functions."""

from typing import Protocol

import numpy as np

from hubbub.metric import Metric
from hubbub_lab.population import Population


class Crowd(Protocol):
    """Makes people up who could be asked, and knows the truth about any who are."""

    def made_up(self, metric: Metric, people: int, generator: np.random.Generator) -> Population:
        """Draw a believable population."""
        ...

    def truth(self, metric: Metric, crowd: Population) -> dict[str, float | None]:
        """Return the true value of each titled row of an answer; None for what so few people do not have."""
        ...
