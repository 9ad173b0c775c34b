"""This file makes the levels of a tree agree: each node's share is that of its children together.

Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially private histograms through
consistency", PVLDB 2010. A node's share is known from its own level, and as a sum from below; going up, both
are averaged by how sure they are, and going down, what is missing is shared out among children. The root
holds 1. All of this is linear, so that a sum over leaves is one over nodes: this file finds its weights.
"""

from dataclasses import dataclass

import numpy as np

from hubbub.estimate import Floats
from hubbub.frequencies import Channel


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A tree, each report about one of its levels, which is drawn at random.

    branching: children of a node. channels: of the levels' frequency oracles, from the root's children to the
    leaves.
    """

    branching: int
    channels: tuple[Channel, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes each level has."""
        return tuple(self.branching**depth for depth in range(1, len(self.channels) + 1))

    def weights(self, leaves: Floats) -> tuple[Floats, list[Floats]]:
        """Return what sums over leaves are: numbers, plus sums over the nodes of each level.

        leaves: the weights of the leaves in each sum, shape (sums, leaves).
        """
        given, nodes = leaves, []
        for _ in self.channels:
            parents = self._joined(given) / self.branching
            nodes.append(given - self._parted(parents))
            given = parents
        nodes.reverse()
        for level, own in enumerate(self._own[:-1]):
            nodes[level + 1] = nodes[level + 1] + (1 - own) * self._parted(nodes[level])
            nodes[level] = own * nodes[level]
        return given[:, 0], nodes

    def variance(self, leaves: Floats) -> Floats:
        """Return the variance that one report of each leaf's holder has in sums, shape (sums, leaves).

        A report of a level counts for as many as there are levels, less what an even distribution would say.
        """
        levels, (_, nodes) = len(self.channels), self.weights(leaves)
        squares, means = np.zeros_like(leaves), np.zeros_like(leaves)
        for channel, weights in zip(self.channels, nodes, strict=True):
            told = weights - weights.mean(axis=1, keepdims=True)
            below = leaves.shape[1] // weights.shape[1]
            squares += np.repeat(_noise(channel, weights) + told**2, below, axis=1)
            means += np.repeat(told, below, axis=1)
        variance: Floats = np.maximum(levels * squares - means**2, 0)
        return variance

    def reach(self, leaves: Floats) -> tuple[Floats, Floats]:
        """Return the least and the most that one report says of sums over leaves, shape (sums,) each."""
        given, nodes = self.weights(leaves)
        even = given + sum(weights.mean(axis=1) for weights in nodes)
        ends = []
        for channel, weights in zip(self.channels, nodes, strict=True):
            supported = (
                np.stack([np.minimum(weights, 0).sum(axis=1), np.maximum(weights, 0).sum(axis=1)])
                if channel.size is None
                else np.stack([weights.min(axis=1), weights.max(axis=1)])
            )
            p, q = float(channel.p), float(channel.q)
            told = (supported - q * weights.sum(axis=1)) / (p - q) - weights.mean(axis=1)
            ends.append(even + len(nodes) * told)
        least, most = np.min(ends, axis=0)[0], np.max(ends, axis=0)[1]
        return least, most

    @property
    def _own(self) -> tuple[float, ...]:
        """How much a node's own share counts against the sum from below, by level: what is best if even."""
        even = [1 / size for size in self.sizes]
        variances = [
            float(channel.variance(np.array(share))) + share * (1 - share)
            for channel, share in zip(self.channels, even, strict=True)
        ]
        own, below = [1.0], variances[-1]
        for variance in variances[-2::-1]:
            own.append(self.branching * below / (variance + self.branching * below))
            below = variance * own[-1]
        return tuple(reversed(own))

    def _joined(self, nodes: Floats) -> Floats:
        """Add up the children of each parent."""
        joined: Floats = nodes.reshape(len(nodes), -1, self.branching).sum(axis=-1)
        return joined

    def _parted(self, parents: Floats) -> Floats:
        """Give each child what its parent has."""
        return np.repeat(parents, self.branching, axis=1)


def _noise(channel: Channel, weights: Floats) -> Floats:
    """Return the variance of weighted sums of one report's shares, by the category held."""
    p, q = channel.p, channel.q
    held = 0.0 if channel.pq is None else float(channel.pq - p * q)  # covariances
    free = 0.0 if channel.qq is None else float(channel.qq - q * q)
    others = weights.sum(axis=1, keepdims=True) - weights
    squares = (weights**2).sum(axis=1, keepdims=True) - weights**2
    own = float(p * (1 - p)) * weights**2 + 2 * held * weights * others
    rest = float(q * (1 - q)) * squares + free * (others**2 - squares)
    noise: Floats = (own + rest) / (float(p) - float(q)) ** 2
    return noise
