"""This file proves that a preview shows what would leave, for every mechanism, and that nothing does.

False alarms: a comparison by Z once in 10**9.
"""

from collections.abc import Callable
from decimal import Decimal
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import boolean
from hubbub.errors import DomainError
from hubbub.manifest import Manifest
from hubbub_client import Client
from hubbub_client.testing import RecordingTransport
from tests.client.conftest import DAY, Clock
from tests.client.test_every_kind import DECLARED, HEAD
from tests.client.test_remote_manifest import OWN, PUBLIC, Carrier, but, signed
from tests.statistics import Z

Make = Callable[..., Client]
ASKED = [
    pytest.param(kind, entry, id=f"{kind}-{entry.kind}")
    for kind in DECLARED
    for entry in registry.ENTRIES
    if kind in entry.domains
]
UNNAMED = "means something only to a collector that asks for a certain answer"


def declared(kind: str, entry: registry.Entry) -> Manifest:
    first = 'parameters = { first = "1" }' if registry.FIRST in entry.parameters else ""
    own = DECLARED[kind][0].replace('delta = "1e-9"', "")
    delta = 'delta = "1e-9"' if entry.approximates else ""
    return Manifest.from_toml(f'{HEAD}kind = "{kind}"\nmechanism = "{entry.kind}"\n{first}\n{delta}\n{own}\n')


def test_every_mechanism_is_previewed() -> None:
    kinds = {param.values[1].kind for param in ASKED}  # type: ignore[attr-defined]

    assert kinds == {entry.kind for entry in registry.ENTRIES}


@pytest.mark.parametrize(("kind", "entry"), ASKED)
def test_a_preview_shows_honest_reports_in_bytes_and_words(
    make: Make, kind: str, entry: registry.Entry
) -> None:
    manifest = declared(kind, entry)
    mechanism, answer = registry.build(manifest["asked"]), DECLARED[kind][1][0]

    shown = make(manifest=manifest).preview("asked", answer, draws=5)

    reports = np.frombuffer(b"".join(draw.report for draw in shown.draws), mechanism.layout)
    assert len(shown.draws) == 5
    assert mechanism.check(reports).all()
    assert all((draw.words == UNNAMED) == (kind == "text") for draw in shown.draws)
    assert ("permanent answer of its own" in shown.note) == entry.remembers


@pytest.mark.parametrize("options", [{"consent": "unknown"}, {"environ": {"HUBBUB_OFF": "1"}}, {}], ids=str)
def test_a_preview_charges_stores_sends_and_touches_nothing(
    make: Make, tmp_path: Path, transport: RecordingTransport, options: dict[str, Any]
) -> None:
    client = make(data_dir=tmp_path / "device", **options)

    shown = client.preview("seconds", 2.5, draws=1000)

    assert len(shown.draws) == 1000
    assert not (tmp_path / "device").exists()
    assert not (tmp_path / "home").exists()
    assert transport.requests == []
    assert list(client.journal()) == []
    assert client.remaining() == Decimal(16)
    assert client.stats().skipped == {}


def test_a_preview_leaves_a_device_as_it_was(make: Make, tmp_path: Path) -> None:
    client = make()
    client.record("dark", True)
    before = {path: path.read_bytes() for path in (tmp_path / "device").iterdir()}

    client.preview("dark", False)

    assert {path: path.read_bytes() for path in (tmp_path / "device").iterdir()} == before


def test_the_draws_follow_the_odds_that_are_told(make: Make) -> None:
    shown = make().preview("dark", True, draws=1000)

    yes = [draw.words for draw in shown.draws].count('speaks for "yes"')
    assert shown.odds == (
        'of 1,000 draws of this value about 731 speak for "yes"',
        'of 1,000 draws of this value about 269 speak for "no"',
    )
    assert abs(yes - 731) < Z * sqrt(1000 * 0.731 * 0.269)


def test_each_draw_of_a_permanent_answer_has_its_own(make: Make) -> None:
    told = 'kind = "boolean"\nmechanism = "l_grr"\nparameters = { first = "0.1" }\n'
    manifest = Manifest.from_toml(HEAD.replace('"4"', '"0.2"') + told)

    shown = make(manifest=manifest).preview("asked", True, draws=1000)

    yes = [draw.words for draw in shown.draws].count('speaks for "yes"')
    assert shown.odds[0] == 'of 1,000 draws of this value about 525 speak for "yes"'
    assert abs(yes - 525) < Z * sqrt(1000) / 2


def test_two_previews_are_drawn_apart(make: Make) -> None:
    client = make()

    one, other = (client.preview("seconds", 2.5, draws=64) for _ in range(2))

    assert one.draws != other.draws
    assert len({draw.report for draw in one.draws}) > 32


def test_the_repr_of_a_preview_says_nothing_of_its_draws(make: Make) -> None:
    client = make()

    shown = {repr(client.preview("dark", value, draws=100)) for value in (True, False)}

    assert shown == {"Preview(metric='dark', note='')"}


def test_a_preview_that_is_printed_shows_its_draws_and_odds(make: Make) -> None:
    shown = make().preview("dark", True, draws=100)

    head, *lines = str(shown).splitlines()
    counts = {words: int(count) for count, words in (line.split(" of 100 draws: ") for line in lines[:-2])}
    assert head == '"dark"'
    assert tuple(lines[-2:]) == shown.odds
    assert sum(counts.values()) == 100
    assert set(counts) <= {'speaks for "yes"', 'speaks for "no"'}


def test_of_many_different_draws_a_print_shows_ten(make: Make) -> None:
    assert len(str(make().preview("seconds", 3, draws=1000)).splitlines()) <= 11


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("dark", "certainly", 10), "True or False"),
        (("seconds", float("nan"), 10), "seconds"),
        (("system", "plan9", 10), "system"),
        (("dark", True, 0), "from 1 to 1000"),
        (("dark", True, 1001), "from 1 to 1000"),
        (("dark", True, True), "from 1 to 1000"),
        (("nowhere", True, 10), "of that name; it has dark, seconds, system, loud, open$"),
        (("open", True, 10), "best"),
    ],
)
def test_what_cannot_be_previewed_is_refused_without_naming_the_value(
    make: Make, manifest: Manifest, asked: tuple[str, object, int], said: str
) -> None:
    undecided = boolean("open", epsilon="1", mechanism="best")
    client = make(manifest=Manifest(app="notepad", serial=1, metrics=(*manifest.metrics, undecided)))

    with pytest.raises(DomainError, match=said) as caught:
        client.preview(*asked)

    assert not isinstance(asked[1], str) or asked[1] not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_the_maker_lowered_or_paused_is_previewed_as_it_leaves_now(make: Make, clock: Clock) -> None:
    client = make(
        manifest=OWN, maker_key=PUBLIC, transport=Carrier(signed(but(3, without=("mail",), dark="0.5")))
    )
    client.record("quiet", True)
    client.flush(now=True)
    clock.now += DAY

    shown = client.preview("dark", True)

    assert shown.odds[0] == 'of 1,000 draws of this value about 622 speak for "yes"'
    with pytest.raises(DomainError, match="paused"):
        client.preview("mail", True)
