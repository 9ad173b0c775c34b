"""This file tries, when an app's developer asks for it, whether a collector would take what the app reports.

It fetches the manifest in force, with the app's own key, and sends nothing about anybody.
"""

import json
from collections.abc import Callable, Iterator

from hubbub.errors import HubbubError
from hubbub.manifest import Manifest
from hubbub_client.outcome import told
from hubbub_client.sending.delivery import judge_batch
from hubbub_client.sending.transport import LONGEST_ANSWER, Request, Transport
from hubbub_client.sending.troubles import answered
from hubbub_client.session import Session
from hubbub_client.settings import Settings
from hubbub_client.threads import within

_KIND = "hb_ingest_"


def tried(session: Session, timeout: float) -> tuple[str, ...]:
    """Return what keeps a session's reports from being taken, within some seconds.

    A thread tries: the name of a collector or a proxy is looked up for as long as a system likes.
    """
    seconds, found = min(timeout, 60.0) if timeout > 0.1 else 0.1, list[str]()

    def find() -> None:
        try:
            found.extend(_found(session, seconds))
        except Exception as error:  # as there, and in a thread
            found.append(told(error))

    if within(seconds, find):
        return tuple(found)
    return (f"no answer from the collector within {seconds:g} seconds",)


def _found(session: Session, timeout: float) -> Iterator[str]:
    obstacle, of_key = session.obstacle(None), _of_key(session.settings.key)
    if obstacle is not None:
        yield f"{obstacle.message} (so the collector was not tried)"
    yield from of_key
    if obstacle is None and not of_key:
        sender = session.recorder.sender
        transport, permit = sender.prepare(), sender.courier.permit_question
        yield from _troubles(session.settings, transport, timeout=timeout, permit=permit)
    for metric in session.settings.manifest.metrics:
        if not metric.is_resolved:
            yield f'"{metric.name}" leaves its mechanism open ("best"), so nothing is recorded about it'


def _of_key(key: str | None) -> tuple[str, ...]:
    """Say what is wrong with a key, as far as its look tells."""
    yours = "the one that the operator gave you"
    if not key:
        return (f'no key was given; write Client(..., key="{_KIND}...") with {yours}',)
    if not key.startswith("hb_"):
        return (f"this is no key of a collector's: one that an app ships begins with {_KIND}",)
    if not key.startswith(_KIND):
        return (f"this key is for people, and who has your app has it: ship one that begins with {_KIND}",)
    if not key.removeprefix(_KIND).strip("."):
        return (f"the key is still a placeholder; put {yours} in its place",)
    return ()


def _troubles(
    settings: Settings, transport: Transport, *, timeout: float, permit: Callable[[], object]
) -> Iterator[str]:
    """Yield, a sentence each, what keeps a collector from taking an app's reports.

    permit: as for a request.
    """
    own, key = settings.manifest, settings.key
    url = f"{settings.url}/v1/manifests/{own.app}"
    try:
        answer = transport.send(Request(url, b"", {}, timeout, key, method="GET", permit=permit))
    except HubbubError as error:
        yield str(error)
        return
    if answer.status != 200:
        code = judge_batch(answer).code
        no_app = f', or nothing was published for the app "{own.app}"'
        yield f"{answered(code)}{no_app if code == 'not_found' else ''}"
        return
    if len(answer.body) >= LONGEST_ANSWER:
        yield f"the manifest in force is longer than {LONGEST_ANSWER:,} bytes, so it was not compared"
        return
    try:
        published = Manifest.from_document(json.loads(answer.body))
    except (HubbubError, ValueError, RecursionError):
        yield f"something that is no collector, or of another version, answered at {settings.url}"
        return
    yield from _unpublished(own, published)


def _unpublished(own: Manifest, published: Manifest) -> Iterator[str]:
    """Say which metrics are not in force as this app asks them; an older app's may be known all the same."""
    known = {metric.id for metric in published.metrics if metric.is_resolved}
    for metric in own.metrics:
        if not metric.is_resolved or metric.id in known:
            continue
        if own.serial < published.serial:
            yield (
                f'"{metric.name}" is not in force as this app asks it (serial {published.serial} is, this '
                f"app has {own.serial}); its reports are taken if that was published once"
            )
        else:
            yield f'"{metric.name}" is not published as this app asks it; publish the manifest of this app'
