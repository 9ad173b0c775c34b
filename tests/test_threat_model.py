"""This file proves that the threat model names, for each attack, tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
ATTACKS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.split("## The attacks")[1].split("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| attack ")
]
TESTS = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
}


@pytest.mark.parametrize("row", ATTACKS, ids=[row[0] for row in ATTACKS])
def test_each_attack_has_a_rule_and_tests_that_exist(row: list[str]) -> None:
    _, rule, named = row

    tests = re.findall(r"`(test_\w+)`", named)

    assert rule
    assert tests
    assert set(tests) <= TESTS


def test_the_page_opens_with_what_is_not_protected() -> None:
    first = re.search(r"^## (.+)$", PAGE, re.MULTILINE)

    assert first is not None
    assert first[1] == "What is not protected"


def test_every_row_is_seen() -> None:
    assert len(ATTACKS) > 25
