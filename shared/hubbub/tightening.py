"""This file says how far a manifest from afar may change an app's own: it can take away, and never add.

Whatever it holds, a device that follows it answers no question that the app did not ask, and none at a
higher price or for longer.
"""

from dataclasses import replace

from hubbub import registry
from hubbub.delta import Delta
from hubbub.epsilon import HIGHEST, Epsilon
from hubbub.manifest import Manifest
from hubbub.metric import Metric


def tighten(own: Manifest, remote: Manifest) -> Manifest:
    """Return what is left of a manifest after a newer one of the same app; the same one after any other.

    A metric that the newer one lacks is left out. One that it asks in the same way takes the lower price and
    the earlier end. One that it asks in another way stays as it is: that is for devices with a newer app.

    >>> from hubbub.declaration import boolean
    >>> dear, cheap = boolean("dark", epsilon=1), boolean("dark", epsilon="0.5")
    >>> own = Manifest(app="notepad", serial=1, metrics=(dear, boolean("mail", epsilon=1)))
    >>> tighter = tighten(own, Manifest(app="notepad", serial=2, metrics=(cheap,)))
    >>> [(metric.name, str(metric.epsilon)) for metric in tighter.metrics]
    [('dark', '0.5')]
    """
    if remote.app != own.app or remote.serial <= own.serial:
        return own
    asked = {metric.name: metric for metric in remote.metrics}
    left = (_tighter(metric, asked[metric.name]) for metric in own.metrics if metric.name in asked)
    return replace(own, serial=remote.serial, metrics=tuple(left))


def differences(own: Manifest, tightened: Manifest) -> tuple[str, ...]:
    """Say in words what tightening changes, a clause a fact.

    >>> from hubbub.declaration import boolean
    >>> own = Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon=1),))
    >>> differences(own, replace(own, serial=2, metrics=()))
    ('pauses dark',)
    """
    after = {metric.name: metric for metric in tightened.metrics}
    found: list[str] = []
    for metric in own.metrics:
        now = after.get(metric.name)
        if now is None:
            found.append(f"pauses {metric.name}")
            continue
        if now.epsilon != metric.epsilon:
            found.append(f"lowers {metric.name} to {now.epsilon}")
        if now.delta != metric.delta:
            found.append(f"lowers the delta of {metric.name} to {now.delta}")
        if now.expires != metric.expires:
            found.append(f"ends {metric.name} on {now.expires}")
    return tuple(found)


def _tighter(own: Metric, remote: Metric) -> Metric:
    """Return a metric of an app after its namesake from afar; only price and end ever change."""
    if _question(own) != _question(remote):
        return own
    ends = [metric.expires for metric in (own, remote) if metric.expires is not None]
    is_no_dearer = remote.epsilon <= own.epsilon and remote.delta <= own.delta
    price = remote if is_no_dearer and not _remembers(own) else own
    return replace(own, epsilon=price.epsilon, delta=price.delta, expires=min(ends, default=None))


def _question(metric: Metric) -> Metric:
    """Return all of a metric that tightening must leave alone.

    The period is part of it: a longer one starts at another time, so an answer in both could cost more than
    the shorter one allowed until then, and reports about silence would tell who had answered before.
    """
    delta = Delta(1) if metric.delta.atto else metric.delta
    return replace(metric, epsilon=Epsilon(HIGHEST), delta=delta, expires=None, why="", owner="")


def _remembers(metric: Metric) -> bool:
    """Tell whether another price would mean another permanent answer: to ask again is no tightening."""
    return metric.is_resolved and registry.entry(metric.mechanism).remembers
