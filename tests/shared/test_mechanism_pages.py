"""This file proves that each mechanism's page says how a manifest asks for it, as the code has it."""

from pathlib import Path

import pytest

from hubbub.parameter import Exact, Whole, Word
from hubbub.registry import ENTRIES, Entry

PAGES = Path(__file__).parents[2] / "docs" / "mechanisms"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.kind)
def test_a_page_says_for_which_kinds_a_mechanism_is_and_what_parameters_it_takes(entry: Entry) -> None:
    page = " ".join((PAGES / f"{entry.kind}.md").read_text(encoding="utf-8").split())

    start = page.index("**In a manifest.**")
    said = page[start : page.index("**Source", start)]
    kinds = " and ".join(f"`{kind}`" for kind in entry.domains)
    assert f'`mechanism = "{entry.kind}"`, for {kinds}' in said
    assert said.count("`parameters.") == len(entry.parameters)
    for parameter in entry.parameters:
        assert f"`parameters.{parameter.name}` ({_range(parameter)}; {_default(parameter.default)}): " in said
    assert ("`changes` may be declared" in said) == entry.remembers
    assert ("declares a `delta`" in said) == entry.approximates


def _range(parameter: object) -> str:
    if isinstance(parameter, Whole):
        return f"{parameter.lowest} to {parameter.highest}"
    if isinstance(parameter, Exact):
        return f'"{parameter.lowest}" to "{parameter.highest}"'
    assert isinstance(parameter, Word)
    return ", ".join(f'"{word}"' for word in parameter.words)


def _default(default: int | str | None) -> str:
    if default is None:
        return "required"
    return f'"{default}" unless given' if isinstance(default, str) else f"{default} unless given"
