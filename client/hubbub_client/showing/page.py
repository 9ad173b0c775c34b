"""This file writes statements as one page that an app can show, or an owner open.

It works without scripts, in light and dark, and on a phone; it loads nothing and links to nothing.
"""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from hubbub.epsilon import decimal_text
from hubbub.spending import WINDOW
from hubbub_client.moments import day, minute
from hubbub_client.showing.fates import fate
from hubbub_client.showing.markup import Part, document, element, section, table
from hubbub_client.showing.page_style import STYLE
from hubbub_client.showing.statement import AGAIN, Asked, Statement, usual_caps
from hubbub_client.storage.journal import Entry
from hubbub_client.storage.ledger import Cap
from hubbub_client.switch import VARIABLES

_TITLE = "What leaves this device"
_PRICE = (
    "Each report is drawn at random on this device before it leaves, so that no single one can be relied on. "
    "Epsilon is what it costs you: after a report for epsilon 1, whoever sees it may be up to 2.7 times "
    "surer of one answer against another; for epsilon 2, up to 7.4 times. Costs add up."
)


def page(statements: Sequence[Statement]) -> str:
    """Return a whole HTML document about some apps."""
    apps = [_app(at, told) for at, told in enumerate(statements)] or [
        element("p", "No app has kept anything.")
    ]
    header = element("header", element("h1", _TITLE), element("p", _PRICE))
    title = ", ".join([_TITLE, *(told.app for told in statements)])
    return document(title, STYLE, header, element("main", *apps), element("footer", "All times are UTC."))


def _app(at: int, told: Statement) -> Element:
    parts = [_state(told), *_questions(told), *_budget(told), *_journal(told), _switch(told)]
    heading = element("h2", told.app, id=f"app-{at}")
    return element("article", heading, *parts, aria_labelledby=f"app-{at}")


def _state(told: Statement) -> Element:
    agreed = sum(asked.consent == "given" for asked in told.asked)
    lines = [_on_or_off(told, has_agreed=agreed > 0)]
    if told.asked:
        lines.append(
            f"Consent is given to {agreed} of {len(told.asked)} questions; nothing is recorded about others."
        )
    if told.silence:
        lines.append(f"Nothing is recorded until {day(told.silence[1])}, since {told.silence[0]}.")
    if told.fault:
        lines.append(f"Nothing is recorded, since its files can't be used: {told.fault}")
    if told.collector:
        lines.append(f"Reports are sent to {told.collector}")
    return section("State", *(element("p", line) for line in [*lines, *told.changes]))


def _on_or_off(told: Statement, *, has_agreed: bool) -> str:
    """Say whether anything is recorded; where nobody asks, only the app knows whether its owner agreed."""
    if told.off:
        return f"Off, so nothing is recorded or sent: {told.off}."
    if told.withdrawn is None:
        return "On." if told.asked else "On, if the app has your consent."
    at = day(told.withdrawn)
    if has_agreed:
        return f"On: you withdrew on {at}, and have agreed again since."
    if told.asked:
        return f"Withdrawn on {at}: nothing is recorded until you agree again in the app."
    return f"Withdrawn on {at}. {AGAIN.capitalize()}."


def _questions(told: Statement) -> Iterator[Element]:
    if told.asked:
        pairs = [(element("dt", asked.name), element("dd", *_answer(asked))) for asked in told.asked]
        yield section("What is asked", element("dl", *(part for pair in pairs for part in pair)))


def _answer(asked: Asked) -> Iterator[Element]:
    yield element("p", f"Consent: {asked.consent}.")
    if asked.why:
        yield element("p", f"What for: {asked.why}")
    name = f'"{asked.name}": '
    yield element("p", f"What leaves: {asked.sentence.removeprefix(name)}.")


def _budget(told: Statement) -> Iterator[Element]:
    if told.spent:
        rows = [
            (one.source or "all together", _part_of(one.window), _part_of(one.life)) for one in told.spent
        ]
        caps = [] if told.spent[0].life.allowed else [element("p", f"{usual_caps().capitalize()}.")]
        heads = ("Source", f"In {WINDOW} days", "For life")
        yield section("What was spent", *caps, table("Epsilon by source", heads, rows))


def _part_of(cap: Cap) -> Part:
    spent, allowed, left = (decimal_text(micro) for micro in (cap.spent, cap.allowed, cap.left))
    if not cap.allowed:
        return spent
    bar = element("meter", value=str(cap.spent), max=str(cap.allowed), aria_label=f"{spent} of {allowed}")
    return element("div", bar, element("span", f"{spent} of {allowed}; {left} left"))


def _journal(told: Statement) -> Iterator[Element]:
    if told.entries:
        heads = ("When", "Metric", "Period", "Epsilon", "What became of it", "What it says")
        more = [element("p", f"{told.earlier:,} came before these.")] if told.earlier else []
        yield section(
            "Every report",
            table("The latest first", heads, (_row(told, entry) for entry in told.entries)),
            *more,
        )


def _row(told: Statement, entry: Entry) -> tuple[Part, ...]:
    return (
        minute(entry.at),
        entry.metric or "this device",
        " to ".join(sorted({day(entry.starts), day(entry.ends - 1)})) if entry.ends else "",
        str(entry.cost) if entry.micro else "",
        fate(entry),
        _content(told.words.get(entry.number, ""), entry.body),
    )


def _content(words: str, body: bytes) -> Part:
    if not body:
        return ""
    whole = element("details", element("summary", f"{len(body)} bytes"), element("code", body.hex()))
    return element("div", element("p", words), whole) if words else whole


def _switch(told: Statement) -> Element:
    last = element("p", "To give up what waits as well: ", element("code", f"{told.command} withdraw"))
    if told.off:
        on = element("p", "For this app alone, in a terminal: ", element("code", f"{told.command} on"))
        all_on = element("p", "If every app was switched off: ", element("code", "hubbub-client on"))
        above = f"What sets {' or '.join(VARIABLES)} in the environment stands above both: take it out there."
        return section("How to switch it on again", on, all_on, element("p", above), last)
    off = element("p", "For this app alone, in a terminal: ", element("code", f"{told.command} off"))
    all_off = (
        "For every app: ",
        element("code", "hubbub-client off"),
        ", or ",
        element("code", f"{VARIABLES[0]}=1"),
    )
    return section("How to switch it off", off, last, element("p", *all_off, " in the environment."))
