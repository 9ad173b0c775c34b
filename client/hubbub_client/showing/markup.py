"""This file makes HTML that loads and runs nothing, from a tree of elements: what is text stays text."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, tostring

from hubbub.printable import printable

Part = Element | str


def document(title: str, style: str, *body: Part) -> str:
    """Return a whole page with a policy under which it can use this one style and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )
    html = element("html", head, element("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{tostring(html, encoding='unicode', method='html')}\n"


def section(title: str, *parts: Part) -> Element:
    """Return a section under its heading."""
    return element("section", element("h3", title), *parts)


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Part]]) -> Element:
    """Return a table that stays one to a screen reader where a narrow screen shows its rows as blocks."""
    head = element(
        "tr", *(element("th", each, scope="col", role="columnheader") for each in heads), role="row"
    )
    body = [
        element(
            "tr",
            *(
                element("td", cell, role="cell", data_head=each)
                for each, cell in zip(heads, row, strict=True)
            ),
            role="row",
        )
        for row in rows
    ]
    groups = (element(tag, *some, role="rowgroup") for tag, some in (("thead", [head]), ("tbody", body)))
    return element("table", element("caption", caption), *groups, role="table")


def element(tag: str, *parts: Part, **attributes: str) -> Element:
    """Return an element; its text and attributes are escaped when it is written, what is unseen at once.

    attributes: with _ for -.

    >>> tostring(element("p", "a <", " b", element("br"), "c", "d"), method="html")
    b'<p>a &lt; b<br>cd</p>'
    """
    made = Element(tag, {name.replace("_", "-"): text for name, text in attributes.items()})
    for part in parts:
        if isinstance(part, Element):
            made.append(part)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + _plain(part)
        else:
            made.text = (made.text or "") + _plain(part)
    return made


def _plain(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))
