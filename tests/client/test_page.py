"""This file proves that an owner's page is whole, harmless and legible, and says what there is to say."""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client
from hubbub_client.showing import statement
from hubbub_client.showing.cli import command
from hubbub_client.showing.page import page
from hubbub_client.showing.page_style import STYLE
from hubbub_client.showing.statement import Asked, Statement
from hubbub_client.storage.journal import Entry
from tests.client.conftest import DAY, MONDAY, Clock
from tests.client.test_remote_manifest import OWN, PUBLIC, Carrier, but, signed

Make = Callable[..., Client]
VOID = {"meta", "br"}
HOSTILE = "<script>alert(1)</script><img src=https://evil.example/x onerror=alert(1)>\"' & </td></table>"
ENTRY = Entry(1, MONDAY, "dark", "dark", MONDAY, MONDAY + DAY, 1_000_000, 0, b"\xab\xcd", "sent", "", MONDAY)


class Read(HTMLParser):
    """A page as a strict reader finds it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.words: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.faults += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.words.append((self._open[-1] if self._open else "", data.strip()))

    def in_tag(self, tag: str) -> list[str]:
        return [text for inside, text in self.words if inside == tag]

    def values(self, name: str) -> list[str | None]:
        return [value for _, known, value in self.attributes if known == name]

    @property
    def text(self) -> str:
        return " ".join(text for inside, text in self.words if inside != "style")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments], catch_exceptions=False)


@pytest.fixture
def text(make: Make, clock: Clock) -> str:
    client = make(consent="unknown", url="https://collector.example.org")
    client.consent("given", ["dark", "seconds"])
    for _ in range(3):
        client.record("dark", True)
        client.record("seconds", 2.5)
        client.flush(now=True)
        clock.now += 7 * DAY
    client.record("dark", True)
    return client.page()


def test_a_page_is_whole_and_has_what_a_screen_reader_needs(text: str) -> None:
    read = Read(text)

    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert read.faults == []
    assert [read.tags.count(tag) for tag in ("title", "header", "main", "footer", "h1")] == [1] * 5
    assert read.values("id") == read.values("aria-labelledby") == ["app-0"]
    assert read.tags.count("caption") == read.tags.count("table") == 2
    assert read.values("scope") == ["col"] * 9
    assert {tag for tag, name, _ in read.attributes if name == "role"} >= {"table", "tr", "th", "td"}
    assert read.tags.count("meter") == len(read.values("aria-label")) == 2 * 5


def test_a_page_loads_runs_and_links_to_nothing(text: str) -> None:
    read = Read(text)
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

    policy = read.values("content")[0]

    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert read.in_tag("style") == [STYLE.strip()]
    assert f"<style>{STYLE}</style>" in text
    assert {"script", "link", "img", "iframe", "form", "object", "a"} & set(read.tags) == set()
    assert {"src", "href", "style", "onclick", "action"} & {name for _, name, _ in read.attributes} == set()
    assert re.findall(r"\w+://[^\s<\"]+", text) == ["https://collector.example.org"]
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_a_page_says_what_is_asked_spent_sent_and_left(make: Make, text: str) -> None:
    read = Read(text)
    client = make()
    sentence = client.explain("dark").removeprefix('"dark": ')

    assert f"What leaves: {sentence}." in read.in_tag("p")
    assert read.in_tag("dt") == ["dark", "seconds", "system", "loud"]
    assert [line for line in read.in_tag("p") if line.startswith("Consent")] == [
        "Consent is given to 2 of 4 questions; nothing is recorded about others.",
        "Consent: given.",
        "Consent: given.",
        "Consent: unknown.",
        "Consent: unknown.",
    ]
    assert "Reports are sent to https://collector.example.org" in read.in_tag("p")
    assert "5.5 of 16; 10.5 left" in read.in_tag("span")
    assert client.remaining() == Decimal("10.5")
    assert read.text.count("waits to be sent") == 1
    assert read.in_tag("td").count("sent") == 6


def test_a_page_shows_every_byte_that_left(make: Make, text: str) -> None:
    hexes = [word for word in Read(text).in_tag("code") if re.fullmatch("[0-9a-f]{40,}", word)]

    assert hexes == [entry.body.hex() for entry in make().journal()][::-1]


def told_of(name: str) -> Read:
    entries = replace(ENTRY, metric=name, status=name, code=name), replace(ENTRY, status="note", code=name)
    asked = Asked(name, name, "given", name, name)
    told = Statement(
        app=name,
        command=name,
        off=name,
        fault=name,
        collector="https://collector.example.org",
        asked=(asked,),
        silence=(name, MONDAY),
        entries=entries,
    )
    return Read(page([told]))


def test_a_page_says_what_each_report_stands_for(make: Make) -> None:
    client = make()
    client.record("dark", True)

    (entry,) = client.journal()
    said = client.words(entry)

    assert said.startswith("speaks for")
    assert escape(said, quote=False) in client.page()


def test_names_that_would_run_are_only_read() -> None:
    harmless = told_of("name")

    read = told_of(HOSTILE)

    assert read.faults == []
    assert read.tags == harmless.tags
    assert read.in_tag("h2") == read.in_tag("dt") == [HOSTILE]
    assert len(read.text.split(HOSTILE)) == len(harmless.text.replace("names", "").split("name"))


@pytest.mark.parametrize("at", [-(2**63), -(10**12), 0, 2**63 - 1])
def test_times_that_no_calendar_has_are_shown_as_they_are(at: int) -> None:
    entry = replace(ENTRY, at=at, starts=at, ends=at + 1)

    read = Read(page([Statement(app="notepad", command="", off="", entries=(entry,))]))

    assert read.faults == []


def test_a_long_journal_is_cut_to_its_latest_entries(
    make: Make, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert statement.SHOWN == 200
    monkeypatch.setattr(statement, "SHOWN", 5)
    client = make()
    for _ in range(8):
        client.record("seconds", 0.5)
        clock.now += DAY

    read = Read(client.page())

    shown = [word for word in read.in_tag("code") if re.fullmatch("[0-9a-f]{40,}", word)]
    assert shown == [entry.body.hex() for entry in client.journal()][:2:-1]
    assert "3 came before these." in read.in_tag("p")


def test_notes_are_told_among_the_reports(make: Make, clock: Clock) -> None:
    client = make()
    client.record("dark", True)
    clock.now += 40 * DAY
    client.record("dark", True)

    read = Read(client.page())

    assert "note: 28 days had passed since the last charge" in read.in_tag("td")
    assert read.tags.count("details") == 2


def state(text: str) -> str:
    """Return what a page says first about its app."""
    return Read(text).in_tag("p")[1]


def test_a_page_says_that_all_was_withdrawn_until_the_owner_agrees_again_and_something_is_recorded(
    make: Make, clock: Clock
) -> None:
    client, other = make(), make()
    client.record("dark", True)

    at_first = state(client.page())
    clock.now += DAY
    other.withdraw()
    withdrawn = state(client.page()), state(other.page())
    clock.now += DAY
    client.consent("given", ["seconds"])
    agreed = state(client.page()), state(other.page())
    client.record("seconds", 3)

    assert (at_first, state(client.page())) == ("On.", "On.")
    assert (
        withdrawn == ("Withdrawn on 2026-01-06: nothing is recorded until you agree again in the app.",) * 2
    )
    assert agreed == ("On: you withdrew on 2026-01-06, and have agreed again since.", withdrawn[1])


def test_a_page_from_outside_says_that_all_was_withdrawn_until_something_is_recorded_again(
    make: Make, home: Path
) -> None:
    client = make(data_dir=home / "alpha")
    client.record("dark", True)

    client.withdraw()
    withdrawn = state(run("page").stdout)
    client.consent("given")
    client.record("seconds", 3)

    again = "If you have agreed again in the app since then, it records again."
    assert withdrawn == f"Withdrawn on 2026-01-05. {again}"
    assert state(run("page").stdout) == "On, if the app has your consent."


def test_what_was_spent_on_questions_of_an_earlier_version_is_shown(make: Make) -> None:
    client = make()
    client.record("dark", True)
    client.close()
    later = Manifest(app="notepad", serial=2, metrics=(boolean("loud", epsilon="1"),))

    read = Read(make(manifest=later).page())

    assert {"all together", "dark", "loud"} <= set(read.in_tag("td"))
    assert read.in_tag("span").count("1 of 8; 7 left") == 1


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        ("refused", "late_period", "refused by the collector (late_period)"),
        ("dropped", "too_old", "never sent (too_old)"),
        ("waiting", "", "waits to be sent"),
    ],
)
def test_what_became_of_a_report_is_said_with_its_reason(status: str, code: str, said: str) -> None:
    entry = replace(ENTRY, status=status, code=code)

    read = Read(page([Statement(app="notepad", command="", off="", entries=(entry,))]))

    assert said in read.in_tag("td")


def test_what_the_maker_changed_from_afar_is_shown(make: Make, clock: Clock, tmp_path: Path) -> None:
    news = signed(but(3, without=("mail",), dark="0.5"))
    client = make(manifest=OWN, maker_key=PUBLIC, transport=Carrier(news))
    client.record("quiet", True)
    client.flush(now=True)
    clock.now += DAY

    inside, outside = Read(client.page()), Read(run("--data-dir", str(tmp_path / "device"), "page").stdout)

    assert any("nothing leaves, since the app's maker has paused it" in line for line in inside.in_tag("p"))
    assert any("each time for epsilon 0.5" in line for line in inside.in_tag("p"))
    assert "pauses mail" in inside.text
    assert "pauses mail" in outside.text


def test_a_page_of_a_device_that_never_recorded_makes_no_file(make: Make, tmp_path: Path) -> None:
    client = make(consent="unknown", environ={"HUBBUB_OFF": "1"})

    read = Read(client.page())

    assert "Off, so nothing is recorded or sent: HUBBUB_OFF is set." in read.in_tag("p")
    assert "0 of 16; 16 left" in read.in_tag("span")
    assert read.tags.count("table") == 1
    assert not (tmp_path / "device").exists()
    assert client.stats().skipped == {}


def test_a_device_that_cannot_be_read_is_said_on_the_page(make: Make, tmp_path: Path) -> None:
    client = make()
    client.record("dark", True)
    client.close()
    (tmp_path / "device" / "device.sqlite3").write_bytes(b"no database" * 1000)

    read = Read(make().page())

    assert any("since its files can't be used" in line for line in read.in_tag("p"))
    assert read.in_tag("dt") == ["dark", "seconds", "system", "loud"]


def test_a_metric_that_is_not_decided_is_said_on_the_page(make: Make) -> None:
    undecided = boolean("open", epsilon="1", mechanism="best")

    read = Read(make(manifest=Manifest(app="notepad", serial=1, metrics=(undecided,))).page())

    assert "nothing is recorded: metric" in read.text


def test_the_command_makes_a_page_of_every_app_without_what_only_they_know(make: Make, home: Path) -> None:
    for app in ("alpha", "beta"):
        client = make(data_dir=home / app)
        client.record("dark", True)
        client.close()

    read = Read(run("page").stdout)

    assert read.faults == []
    assert read.in_tag("h2") == ["alpha", "beta"]
    assert {"hubbub-client --app=beta off", "hubbub-client --app=beta withdraw"} <= set(read.in_tag("code"))
    assert read.in_tag("p").count("On, if the app has your consent.") == 2
    assert read.text.count("By default an app may spend 8 per source and 16 in all in 28 days") == 2
    assert (read.tags.count("dl"), read.tags.count("meter"), read.tags.count("details")) == (0, 0, 2)


def test_the_command_writes_a_file_for_its_owner_alone(make: Make, tmp_path: Path) -> None:
    make().record("dark", True)
    device, out = tmp_path / "device", tmp_path / "page.html"

    done = run("--data-dir", str(device), "page", "--output", str(out))

    assert (done.exit_code, done.output) == (0, "")
    assert out.stat().st_mode & 0o777 == 0o600
    assert f"hubbub-client --data-dir={device} off" in Read(out.read_text()).in_tag("code")


def test_the_command_says_where_it_cannot_write(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["page", "--output", str(tmp_path / "none" / "page.html")])

    assert done.exit_code == 1
    assert "the page can't be made" in done.output


def test_the_command_makes_a_page_where_there_is_no_app() -> None:
    done, misspelt = run("page"), run("--app", "nosuch", "page")

    assert "No app has kept anything." in Read(done.stdout).in_tag("p")
    assert (misspelt.exit_code, misspelt.stdout) == (1, "")
    assert "no app of that name has kept anything here" in misspelt.stderr


def test_a_page_of_what_is_off_says_how_to_switch_it_on_again(make: Make, home: Path) -> None:
    client = make(data_dir=home / "alpha")
    client.record("dark", True)
    is_on = Read(run("page").stdout)
    run("--app", "alpha", "off")

    inside, outside = Read(client.page()), Read(run("page").stdout)

    assert "How to switch it off" in is_on.in_tag("h3")
    assert [read.in_tag("h3")[-1] for read in (inside, outside)] == ["How to switch it on again"] * 2
    assert f"hubbub-client --data-dir={home / 'alpha'} on" in inside.in_tag("code")
    assert {"hubbub-client --app=alpha on", "hubbub-client on"} <= set(outside.in_tag("code"))
    assert state(run("page").stdout) == (
        "Off, so nothing is recorded or sent: the owner switched it off, "
        f"as the file {home / 'alpha' / '_off'} says."
    )


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("block", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "soft"])
@pytest.mark.parametrize("ground", ["ground", "tint"])
def test_text_stands_out_from_its_ground(block: int, ink: str, ground: str) -> None:
    colors = dict(re.findall(r"--(\w+): (#\w{6})", STYLE.split("@media")[block]))

    low, high = sorted((luminance(colors[ink]), luminance(colors[ground])))

    assert (high + 0.05) / (low + 0.05) >= 7
