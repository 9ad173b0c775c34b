"""This file makes up people who hold a word each, a few words being common and most of them rare."""

import numpy as np

from hubbub.metric import Metric
from hubbub.texts import text_of
from hubbub_lab.population import Population

_WORDS = 2_000
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)


def made_up(metric: Metric, people: int, generator: np.random.Generator) -> Population:
    """Draw a believable population."""
    length = metric.domain.arguments["length"]
    letters = _LETTERS[generator.integers(0, 26, (_WORDS, length))]
    ends = generator.integers(1, length + 1, (_WORDS, 1))
    words = generator.permutation(np.unique(np.where(np.arange(length) < ends, letters, 0), axis=0))
    weights = np.arange(1.0, len(words) + 1) ** -1.3
    return Population(words.astype(np.int64), generator.multinomial(people, weights / weights.sum()))


def truth(metric: Metric, crowd: Population) -> dict[str, float | None]:  # noqa: ARG001 - as it is held
    """Return the share of each text that somebody holds; it is 0 for every other one."""
    rows, of = np.unique(crowd.values.astype(np.uint8), axis=0, return_inverse=True)
    held = np.bincount(of.reshape(-1), weights=crowd.counts) / crowd.n
    texts = (text_of(row.tobytes()) for row in rows)
    return {text: share for text, share in zip(texts, held.tolist(), strict=True) if text is not None}
