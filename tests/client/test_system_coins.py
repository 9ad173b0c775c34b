"""This file checks a device's coins: fresh for each call and child, with the cipher and without.

False alarms: a comparison by Z once in 10**9; equal words once in 2**128.
"""

import subprocess
import sys

import numpy as np
import pytest

from hubbub_client.answering.bulk_words import IS_FAST
from hubbub_client.answering.system_coins import system_coins
from tests.forked import in_a_child
from tests.statistics import Z

FEW, BULK = 4095, 4096  # bytes on both sides of where the cipher sets in

BLOCKED = """
import sys
sys.modules["cryptography"] = None
"""
COUNT = """
import os
asked, urandom = [], os.urandom
os.urandom = lambda size: asked.append(size) or urandom(size)
from hubbub_client.answering.system_coins import system_coins
drawn = [system_coins().words(size).tobytes() for size in (4095, 4096, 100_000)]
print(asked, [len(words) for words in drawn], len({words[:16] for words in drawn}))
"""
LOADED = """
import sys
from hubbub_client.answering.system_coins import system_coins
system_coins().words(4095)
print("cryptography" in sys.modules)
"""


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        (COUNT, "[4095, 32, 32] [4095, 4096, 100000] 3\n"),
        (BLOCKED + COUNT, "[4095, 4096, 100000] [4095, 4096, 100000] 3\n"),
        (LOADED, "False\n"),
    ],
    ids=["with the cipher", "without it", "few words"],
)
def test_the_operating_system_gives_a_key_for_each_bulk_or_else_the_bulk_itself(
    script: str, printed: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.stdout, done.stderr) == (printed, "")


def test_these_tests_run_with_the_cipher() -> None:
    assert IS_FAST


@pytest.mark.parametrize("size", [0, 1, FEW, BULK, BULK + 1, 1_000_001])
def test_as_many_bytes_come_as_were_asked_for(size: int) -> None:
    words = system_coins().words(size)

    assert (words.size, words.dtype) == (size, np.dtype(np.uint8))


@pytest.mark.parametrize("size", [FEW, BULK])
def test_every_byte_is_as_likely_as_any_other_and_tells_nothing_of_the_next(size: int) -> None:
    words = np.concatenate([system_coins().words(size) for _ in range(1024)])
    n, expected = words.size, words.size / 256

    counts = np.bincount(words, minlength=256)
    pairs = np.bincount(words[:-1] >> 4 << 4 | words[1:] >> 4, minlength=256)

    assert (np.abs(counts - expected) < (Z + 1) * expected**0.5).all()
    assert (np.abs(pairs - expected) < (Z + 1) * expected**0.5).all()
    assert abs(words.mean() - 127.5) < Z * (65535 / 12 / n) ** 0.5


@pytest.mark.parametrize("size", [FEW, BULK])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it is forked on purpose
def test_no_two_forked_children_draw_the_same_words(size: int) -> None:
    coins = system_coins()
    coins.words(size)

    drawn = [in_a_child(lambda: bytes(coins.words(size)[-16:])) for _ in range(16)]  # all alike, if copied

    assert {len(words) for words in drawn} == {16}
    assert len(set(drawn)) == 16
