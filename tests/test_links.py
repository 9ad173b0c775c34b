"""This file follows every relative link of every page to a file, and to the heading that it names."""

import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
PAGES = subprocess.run(
    ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
).stdout.splitlines()


def tokens(page: Path) -> list[Token]:
    flat = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    return [*flat, *(child for token in flat for child in token.children or ())]


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    flat = tokens(page)
    titles = [after.content for token, after in pairwise(flat) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (page.parent / name) if name else page
    return target.exists() and (not anchor or anchor in anchors(target))


@pytest.mark.parametrize("name", PAGES)
def test_every_relative_link_of_a_page_leads_somewhere(name: str) -> None:
    page = ROOT / name
    targets = [token.attrs.get("href") or token.attrs.get("src") for token in tokens(page)]
    relative = [str(target) for target in targets if target and not re.match(r"[a-z]+:", str(target))]

    broken = [link for link in relative if not leads_somewhere(page, link)]

    assert broken == []
