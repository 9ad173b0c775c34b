"""This file seeds the coins of simulations and tests: the same law as a device's, the same way each time."""

from hubbub.generator_coins import GeneratorCoins


def seeded_coins(seed: int) -> GeneratorCoins:
    """Return coins that fall the same way for the same seed.

    >>> seeded_coins(7).words(4).tolist() == seeded_coins(7).words(4).tolist()
    True
    """
    return GeneratorCoins.of(seed)
