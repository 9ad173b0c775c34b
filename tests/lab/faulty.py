"""This file builds mechanisms with planted faults, as a careless registry line would."""

from fractions import Fraction

from hubbub.epsilon import EpsilonLike
from hubbub.frequencies import Channel
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.probability import Real


def boastful(epsilon: EpsilonLike, k: int) -> RandomizedResponse:
    """Claim epsilon and spend 1.2 times as much."""
    mechanism = RandomizedResponse(epsilon, k)
    e = Real.exp(mechanism.epsilon.exact * Fraction(6, 5))
    return with_channel(mechanism, Channel(e / (e + (k - 1)), 1 / (e + (k - 1))))


boastful.exact = True  # which is asked of a mechanism's class


def with_channel(mechanism: RandomizedResponse, channel: Channel) -> RandomizedResponse:
    """Put another channel into a mechanism."""
    object.__setattr__(mechanism, "channel", channel)
    object.__setattr__(mechanism, "_kept", channel.p - channel.q)
    return mechanism
