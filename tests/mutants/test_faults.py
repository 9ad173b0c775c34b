"""This file proves that every fault can still be planted, so that the run over them means something."""

import ast

import pytest

from tests.mutants.catalogue import FAULTS
from tests.mutants.fault import ROOT, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_changes_the_source_and_leaves_it_readable(fault: Fault) -> None:
    source = (ROOT / fault.file).read_text("utf-8")

    planted = fault.plant(source)

    assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(source))


def test_a_fault_whose_place_is_gone_is_not_planted() -> None:
    fault = Fault("gone", "shared/hubbub/coins.py", (("no such text", ""),), "coins")

    with pytest.raises(ValueError, match="0 times: no such text"):
        fault.plant("some other text")
