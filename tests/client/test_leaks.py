"""This file scans everything a device writes, says and sends for planted true values, on every path."""

import asyncio
import base64
import gc
import gzip
import html
import logging
import os
import pickle
import shutil
import sqlite3
import struct
import traceback
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hubbub.declaration import choice, number
from hubbub.errors import DomainError, HubbubError, SkippedError
from hubbub.manifest import Manifest
from hubbub.period import period_at
from hubbub_client import Client, Policy, Skipped
from hubbub_client.answering.answer import Fact, answer
from hubbub_client.answering.rules import Rules
from hubbub_client.sending.delivery import Delivery
from hubbub_client.sending.transport import Answer
from hubbub_client.testing import RecordingTransport
from tests.client.conftest import DAY, Clock
from tests.client.test_delivery import wait_for

Make = Callable[..., Client]
WORD, FIGURE = "zanzibar-quokka", 7.8125377
MANIFEST = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        choice("place", options=["here", WORD, "other"], epsilon="1", period="1d"),
        number("figure", low=0, high=10, epsilon="1", period="1d"),
    ),
)
MANIFESTS = {
    "settings",
    "metrics",
    "_manifest",
    "_questions",
    "_forms",
    "_declared",
}  # they list the options, as the app's own file does


def disguises() -> Iterator[bytes]:
    """Yield the planted values in the forms in which software lets them slip."""
    for text in (WORD, str(FIGURE), "7.81253", "7812537", str(round(FIGURE * 1024 / 10, 3))):
        for form in (text, text.upper(), text[::-1], repr(text)[1:-1]):
            yield form.encode()
            yield form.encode("utf-16-le")
            yield form.encode("utf-16-be")
            yield form.encode().hex().encode()
            yield base64.b64encode(form.encode())[:-4]
    for value in (FIGURE, FIGURE / 10, FIGURE * 102.4):
        for layout in ("<d", ">d", "<f", ">f"):
            packed = struct.pack(layout, value)
            yield packed
            yield packed.hex().encode()
            yield base64.b64encode(packed)[:-2]


FORMS = {form for form in disguises() if len(form) >= 6}  # shorter ones turn up by chance


def found_in(haystacks: dict[str, bytes]) -> list[str]:
    return sorted(name for name, hay in haystacks.items() if any(form in hay for form in FORMS))


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def traffic(transport: RecordingTransport) -> dict[str, bytes]:
    packed = {f"body {at}": request.body for at, request in enumerate(transport.requests)}
    opened = {f"inflated {at}": gzip.decompress(body) for at, body in enumerate(packed.values())}
    return packed | opened | {"requests": repr(transport.requests).encode()}


def said(client: Client, caplog: pytest.LogCaptureFixture) -> dict[str, bytes]:
    logs = [f"{record.getMessage()} {record.args} {record.exc_text}" for record in caplog.records]
    parts = {**vars(client._session), **vars(client._session.recorder)}
    state = [part for name, part in parts.items() if name not in MANIFESTS]
    told = [client, state, client.stats(), list(client.journal()), client.remaining()]
    return {"logs": "\n".join(logs).encode(), "told": repr(told).encode()}


@pytest.mark.parametrize("form", sorted(FORMS)[:: max(1, len(FORMS) // 25)])
def test_the_scan_would_find_a_leak(form: bytes) -> None:
    assert found_in({"file": b"\0" * 10 + form + b"\0" * 10}) == ["file"]


def test_nothing_true_is_written_said_or_sent_on_success(
    make: Make, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(1)
    transport = RecordingTransport([Answer(500), Answer(409, b'{"code": "id_conflict"}')])
    client = make(manifest=MANIFEST, transport=transport)

    outcomes = []
    for _ in range(6):
        clock.now += DAY
        outcomes += [
            client.record("place", WORD),
            client.record("figure", FIGURE),
            client.record("place", WORD),
        ]
        client.flush()

    seen = files(tmp_path / "device") | traffic(transport) | said(client, caplog)
    assert len(transport.requests) == 13
    assert caplog.records
    assert found_in(seen | {"outcomes": repr(outcomes).encode()}) == []


def test_nothing_true_is_in_the_side_files_of_an_open_transaction(
    make: Make, tmp_path: Path, clock: Clock
) -> None:
    client = make(manifest=MANIFEST)
    client.record("place", WORD)
    question = client._session.recorder.questions.question(MANIFEST["figure"])
    rules = Rules(Policy().limits, Delivery())
    fact = Fact(FIGURE, (), period_at(clock.now, 1))

    def answer_and_copy(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA cache_spill = 1")
        answer(connection, question, fact, now=int(clock.now), rules=rules)
        shutil.copytree(tmp_path / "device", tmp_path / "copy")

    client._session.recorder.device.transact(answer_and_copy)

    assert "device.sqlite3-journal" in files(tmp_path / "copy")
    assert found_in(files(tmp_path / "copy") | {"fact": repr(fact).encode()}) == []


class Talkative(float):
    """A number whose every word is itself."""

    def __float__(self) -> float:
        raise ValueError(f"{WORD} {FIGURE}")

    def __repr__(self) -> str:
        return f"{WORD} {FIGURE}"

    __str__ = __repr__


def refuse_consent(client: Client, _: Path) -> None:
    client.consent("refused")


def damage(client: Client, directory: Path) -> None:
    client.record("place", "here")
    os.truncate(directory / "device.sqlite3", 5000)


def leave(_: Client, __: Path) -> None:
    """Change nothing: the value itself is at fault, or the metric was answered."""


ATTEMPTS = [
    ("place", f"{WORD}?"),
    ("place", FIGURE),
    ("figure", WORD),
    ("figure", Talkative(FIGURE)),
    ("figure", FIGURE),
    ("place", WORD),
    ("nowhere", WORD),
]


@pytest.mark.parametrize("spoil", [leave, refuse_consent, damage], ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=range(len(ATTEMPTS)))
def test_nothing_true_is_written_or_said_on_failure(
    make: Make,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    spoil: Callable[[Client, Path], None],
    attempt: tuple[str, object],
) -> None:
    caplog.set_level(1)
    logging.getLogger("hubbub_client").setLevel(1)
    client = make(manifest=MANIFEST, strict=True)
    spoil(client, tmp_path / "device")

    told = ""
    for _ in range(2):
        try:
            client.record(*attempt)
        except SkippedError as error:
            told += "".join(traceback.format_exception(error)) + repr(error) + repr(error.__context__)

    logs = "\n".join(f"{record.getMessage()} {record.args}" for record in caplog.records)
    seen = files(tmp_path / "device") | {"told": told.encode(), "logs": logs.encode()}
    assert told
    assert found_in(seen) == []


@pytest.mark.parametrize(
    "attempt",
    [(WORD, "place"), (WORD, "place", {WORD: "x"}), ("place", "here", {WORD: "x"}), ("place", "here", WORD)],
    ids=range(4),
)
def test_nothing_true_is_said_where_arguments_are_swapped(
    make: Make, caplog: pytest.LogCaptureFixture, attempt: Any
) -> None:
    caplog.set_level(1)
    client = make(manifest=MANIFEST, strict=True)

    told = ""
    for act in (
        lambda: client.record(*attempt),
        lambda: asyncio.run(client.record_async(*attempt), debug=True),
        lambda: client.preview(*attempt[:2]) and client.explain(WORD),
        lambda: client.remaining(attempt[0]) and client.obstacle(WORD),
        lambda: client.consent("given", [WORD]),
    ):
        with pytest.raises(HubbubError) as caught:
            act()
        told += "".join(traceback.format_exception_only(caught.value)) + repr(caught.value.__context__)
    with client.timed(attempt[0], *attempt[2:]):
        pass

    logs = "\n".join(f"{record.getMessage()} {record.args}" for record in caplog.records)
    assert found_in({"told": told.encode(), "logs": logs.encode()}) == []


def test_nothing_true_is_said_when_a_mechanism_fails(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def explode(_: object, values: object, __: object) -> None:
        raise ValueError(f"{WORD} {FIGURE} {values}")

    caplog.set_level(1)
    monkeypatch.setattr("hubbub.mechanisms.laplace.Laplace.perturb", explode)
    client = make(manifest=MANIFEST, strict=True)

    with pytest.raises(SkippedError) as caught:
        client.record("figure", FIGURE)

    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value.__context__)
    logs = "\n".join(f"{record.getMessage()} {record.args}" for record in caplog.records)
    assert found_in({"told": told.encode(), "logs": logs.encode()}) == []


def test_nothing_true_is_written_said_or_sent_by_what_times_awaits_previews_and_shows(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(1)
    transport = RecordingTransport()
    client = make(manifest=MANIFEST, transport=transport)
    times = iter([0.0, FIGURE])
    timer = client.timed("figure", clock=lambda: next(times))

    with timer:
        pass
    outcome = asyncio.run(client.record_async("place", WORD), debug=True)
    again = asyncio.run(client.record_async("figure", FIGURE), debug=True)
    shown = client.preview("figure", FIGURE, 200)
    client.preview("place", WORD)
    client.flush(now=True)

    worker, page = client._session._assembly.worker, client.page()
    for entry in client.journal():
        page = page.replace(html.escape(client.words(entry), quote=False), "")  # drawn at random
    told = repr([timer, outcome, again, shown, worker, vars(worker)]) + page
    seen = files(tmp_path / "device") | traffic(transport) | said(client, caplog) | {"shown": told.encode()}
    assert len(transport.requests) == 2
    assert isinstance(again, Skipped)
    assert caplog.records
    assert found_in(seen) == []


@pytest.mark.parametrize("spoil", [leave, refuse_consent, damage], ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=range(len(ATTEMPTS)))
def test_nothing_true_is_said_where_awaiting_timing_or_previewing_fails(
    make: Make,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    spoil: Callable[[Client, Path], None],
    attempt: tuple[str, object],
) -> None:
    caplog.set_level(1)
    client = make(manifest=MANIFEST, strict=True)
    spoil(client, tmp_path / "device")

    told = repr(client.timed(attempt[0], clock=lambda: attempt[1]))  # type: ignore[arg-type, return-value]
    for act in (
        lambda: asyncio.run(client.record_async(*attempt), debug=True),
        lambda: asyncio.run(client.record_async(*attempt), debug=True),
        lambda: repr(client.preview(*attempt)) * (attempt[0] == "figure"),  # the draws of a place are places
    ):
        try:
            told += repr(act())
        except HubbubError as error:
            told += "".join(traceback.format_exception(error)) + repr(error) + repr(error.__context__)

    logs = "\n".join(f"{record.getMessage()} {record.args}" for record in caplog.records)
    seen = files(tmp_path / "device") | {"told": told.encode(), "logs": logs.encode()}
    assert "Error" in told
    assert found_in(seen) == []


def test_nothing_true_is_said_when_a_mechanism_fails_in_a_preview(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(_: object, values: object, __: object) -> None:
        raise ValueError(f"{WORD} {FIGURE} {values}")

    monkeypatch.setattr("hubbub.mechanisms.laplace.Laplace.perturb", explode)

    with pytest.raises(DomainError) as caught:
        make(manifest=MANIFEST).preview("figure", FIGURE)

    assert found_in({"told": "".join(traceback.format_exception(caught.value)).encode()}) == []


def test_nothing_true_is_in_a_pickle_of_what_an_app_is_given_nor_can_a_client_be_pickled(
    make: Make, clock: Clock
) -> None:
    client = make(manifest=MANIFEST)
    outcomes = [client.record(name, value) for name in ("place", "figure") for value in (WORD, FIGURE, WORD)]
    given = [*outcomes, *client.journal(notes=True), client.stats(), client.remaining(), client.flush()]

    with pytest.raises((TypeError, AttributeError), match=r"pickle|local object"):
        pickle.dumps(client)

    assert len(given) == 11
    assert found_in({"pickle": pickle.dumps(given), "json": repr(given).encode()}) == []


def test_nothing_true_is_in_the_files_of_a_permanent_answer(make: Make, clock: Clock, tmp_path: Path) -> None:
    options = ["here", WORD, "other"]
    metrics = tuple(
        choice(
            f"place_{changes}",
            options=options,
            epsilon="2",
            period="1d",
            mechanism="l_grr",
            parameters={"first": "1"},
            changes=changes,
        )
        for changes in (0, 1, 2)
    )
    client = make(manifest=Manifest(app="notepad", serial=1, metrics=metrics))

    for value in (WORD, "here", "other", WORD):
        for metric in metrics:
            client.record(metric.name, value)
        client.flush()
        clock.now += DAY

    assert len(list(client.journal())) == 12
    assert found_in(files(tmp_path / "device")) == []


def reachable(root: object) -> list[object]:
    """List what an object keeps alive; not by way of modules, classes or the globals of functions."""
    found, line = {id(root): root}, [root]
    while line:
        one = line.pop()
        if isinstance(one, types.ModuleType | type | Manifest):
            continue
        parts = (one.__closure__, one.__defaults__) if isinstance(one, types.FunctionType) else ()
        for part in parts or gc.get_referents(one):
            if id(part) not in found:
                found[id(part)] = part
                line.append(part)
    return list(found.values())


def test_a_client_keeps_no_value_alive_in_any_form(make: Make, clock: Clock) -> None:
    figure = 7.0 + 0.8125377  # made here, so that no constant of this file is it
    client = make(manifest=MANIFEST)
    with client.timed("place"):
        client.record("figure", figure)
    client.record("figure", figure)
    asyncio.run(client.record_async("figure", figure))
    client.flush()
    gc.collect()

    kept = [one for one in reachable(client) if isinstance(one, int | float | str | bytes)]

    numbers = [one for one in kept if isinstance(one, int | float) and not isinstance(one, bool)]
    assert len(kept) > 100
    assert not [one for one in numbers if abs(float(one) - figure) < 1e-6]
    assert found_in({str(at): str(one).encode() for at, one in enumerate(kept) if one != WORD}) == []


class Figure(float):
    """A number of which can be told whether anything still holds it."""


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Let no collector find what only a cycle keeps alive."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.collect()  # now, and not within whatever test comes next


def record_async(client: Client, value: object) -> object:
    """Record in a worker, and wait for it to be gone."""
    try:
        return asyncio.run(asyncio.wait_for(client.record_async("figure", value), 30))
    finally:
        del value
        wait_for(lambda: not client._session._assembly.worker._turn.locked())


def spoil_nothing(client: Client, _: Path) -> None:
    client.record("figure", 1)


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("spoil", [spoil_nothing, refuse_consent, damage], ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("way", ["record", "record_async"])
def test_what_a_strict_client_raises_holds_no_value(
    make: Make, tmp_path: Path, spoil: Callable[[Client, Path], None], way: str
) -> None:
    client = make(manifest=MANIFEST, strict=True)
    spoil(client, tmp_path / "device")
    value = Figure(FIGURE)
    witness = weakref.ref(value)

    with pytest.raises(SkippedError) as caught:
        client.record("figure", value) if way == "record" else record_async(client, value)
    del value

    assert caught.value.__traceback__ is not None
    assert witness() is None


@pytest.mark.parametrize(
    "attempt",
    [
        lambda client: client.record(WORD, "place", {WORD: "x"}),
        lambda client: asyncio.run(client.record_async(WORD, "place", {WORD: "x"})),
    ],
    ids=["record", "record_async"],
)
def test_what_a_strict_client_raises_holds_no_argument_that_may_be_a_value(
    make: Make, attempt: Callable[[Client], object]
) -> None:
    client = make(manifest=MANIFEST, strict=True)

    with pytest.raises(SkippedError) as caught:
        attempt(client)

    frames = [frame for frame, _ in traceback.walk_tb(caught.tb)]
    ours = [frame.f_locals for frame in frames if "hubbub_client" in frame.f_code.co_filename]
    assert ours
    assert found_in({"frames": repr(ours).encode()}) == []


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("spoil", [leave, refuse_consent, damage], ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("way", ["record", "record_async"])
def test_no_cycle_keeps_a_value_that_was_recorded_or_skipped(
    make: Make, tmp_path: Path, spoil: Callable[[Client, Path], None], way: str
) -> None:
    client = make(manifest=MANIFEST)
    spoil(client, tmp_path / "device")
    value = Figure(FIGURE)
    witness = weakref.ref(value)

    outcome = client.record("figure", value) if way == "record" else record_async(client, value)
    del value

    assert outcome is not None
    assert witness() is None
