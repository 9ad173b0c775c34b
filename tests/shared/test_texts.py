"""This file proves which texts are taken, what they become, and what their public hashes are."""

import hashlib
import unicodedata
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.declaration import metric_of
from hubbub.domains.text import Text
from hubbub.errors import DomainError, ManifestError
from hubbub.prefixes import Prefixes
from hubbub.public_hashes import chosen_symbols, rows_of_texts, symbols, words
from hubbub.texts import canonical, padded, text_of

SECRET = "oxymoron"


def declared(**more: object) -> Text:
    domain = metric_of(
        "word", {"kind": "text", "epsilon": "1", "mechanism": "hadamard_sketch", **more}
    ).domain
    assert isinstance(domain, Text)
    return domain


def test_a_text_becomes_its_bytes_with_zeros_behind() -> None:
    domain = declared(length=6)

    assert domain.encode("né") == (110, 195, 169, 0, 0, 0)
    assert domain.encode("") == (0,) * 6
    assert domain.canonical == {"kind": "text", "length": 6}


def test_two_ways_to_write_an_accent_are_one_text() -> None:
    assert Text(8).encode("ne\u0301") == Text(8).encode("n\u00e9")
    assert Text(8).plain("ne\u0301") == "n\u00e9"


@pytest.mark.parametrize(
    "value",
    [None, 1, b"oxymoron", ["oxymoron"], SECRET + "\n", SECRET + "\0", "\x7f" + SECRET, SECRET + "\x85"],
)
def test_what_is_no_clean_text_is_refused_and_never_named(value: object) -> None:
    with pytest.raises(DomainError) as caught:
        Text(16).encode(value)

    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("value", [SECRET + "s", "é" * 5, "\ud800"])
def test_a_text_that_does_not_fit_is_refused_and_never_named(value: str) -> None:
    with pytest.raises(DomainError) as caught:
        Text(8).encode(value)

    assert value not in str(caught.value)


def test_of_a_text_far_too_long_only_its_length_is_looked_at() -> None:
    class Unread(str):
        __slots__ = ()

        def __iter__(self) -> Iterator[str]:
            raise AssertionError

    with pytest.raises(DomainError, match="at most 8 bytes"):
        Text(8).encode(Unread("x" * 33))


@given(st.text(max_size=40), st.integers(1, 64))
def test_what_is_too_long_by_its_length_is_too_long_by_its_bytes(text: str, length: int) -> None:
    decomposed = unicodedata.normalize("NFD", text)

    assert len(decomposed) <= 4 * len(unicodedata.normalize("NFC", decomposed).encode())
    assert len(decomposed) <= 4 * length or len(unicodedata.normalize("NFC", decomposed).encode()) > length


@pytest.mark.parametrize("length", [0, 65, -1, True, 1.5, "8", None])
def test_a_length_outside_1_to_64_is_refused(length: object) -> None:
    with pytest.raises(ManifestError, match=r"length"):
        declared(length=length)


def test_a_text_without_a_length_is_refused_with_what_to_write() -> None:
    with pytest.raises(ManifestError, match="add length = 16"):
        declared()


@given(st.text(alphabet=st.characters(exclude_categories=("C",)), max_size=16))
def test_every_text_that_is_taken_is_read_back(text: str) -> None:
    row = padded(text, 64)

    assert len(row) == 64
    assert text_of(row) == canonical(text, 64)


@given(st.binary(min_size=4, max_size=4))
def test_bytes_are_a_text_only_if_it_becomes_them(row: bytes) -> None:
    text = text_of(row)

    assert text is None or padded(text, 4) == row


@pytest.mark.parametrize("row", [b"a\0b\0", b"\xff\0\0\0", b"a\n\0\0", b"e\xcc\x81\0", b"\xed\xa0\x80\0"])
def test_bytes_that_no_text_becomes_are_none(row: bytes) -> None:
    assert text_of(row) is None


# SHAKE-128 of "hubbub text", one byte of the family, and the row: word j is hash j, little-endian
GOLDEN = [
    (0, "6c696e7578000000", "3f39e7d0c03ecd67ca3a084e"),
    (3, "6c696e7578000000", "0d239ebf158a9a029bd6618f"),
    (0, "0000000000000000", "899b0fb37f9f645f86d658e4"),
]


@pytest.mark.parametrize(("family", "row", "hashes"), GOLDEN)
def test_hashes_are_these_bytes_for_ever(family: int, row: str, hashes: str) -> None:
    assert words(bytes.fromhex(row), 3, family=family).tobytes().hex() == hashes


def test_a_hash_is_a_word_of_shake_128_scaled_to_the_symbols() -> None:
    digest = hashlib.shake_128(b"hubbub text\2linux").digest(4 * 100)
    rows = np.frombuffer(b"linux", dtype=np.uint8).reshape(1, 5)

    found = symbols(rows, 100, 7, family=2)

    expected = [7 * int.from_bytes(digest[4 * j : 4 * j + 4], "little") // 2**32 for j in range(100)]
    assert found.tolist() == [expected]


def test_one_hash_of_each_text_is_the_one_among_all_wherever_equal_texts_stand() -> None:
    texts = rows_of_texts(["a", "a", "b", "a", "b", "b", "b", "c"] * 300, 4)
    which = np.arange(len(texts)) % 11

    found = chosen_symbols(texts, which, 11, 5)

    assert np.array_equal(found, symbols(texts, 11, 5)[np.arange(len(texts)), which])
    assert chosen_symbols(texts[:0], which[:0], 11, 5).shape == (0,)


def test_two_texts_have_the_same_symbol_about_as_often_as_there_are_symbols() -> None:
    texts = rows_of_texts([f"text {number}" for number in range(60)], 16)
    size, count = 5, 4096

    hashed = symbols(texts, count, size)

    equal = (hashed[:, None] == hashed[None]).mean(axis=2)[np.triu_indices(60, 1)]
    spread = np.sqrt((1 / size) * (1 - 1 / size) / count)
    assert (
        np.abs(equal - 1 / size).max() < 6 * spread
    )  # 1,770 pairs: a false alarm once in 200,000 hash families
    assert abs(equal.mean() - 1 / size) < 6 * spread / np.sqrt(equal.size)


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("start", [1, 7, 8, 13, 16])
@pytest.mark.parametrize("step", [1, 5, 8, 12])
def test_the_extensions_of_a_prefix_are_all_prefixes_that_begin_with_it(
    length: int, start: int, step: int
) -> None:
    prefixes = Prefixes(length, start, step)
    row = np.random.default_rng(5).integers(0, 256, (1, length)).astype(np.uint8)

    found = [
        prefixes.extended(prefixes.cut(row, level - 1) if level else prefixes.root, level)
        for level in range(len(prefixes.bits) - 1)
    ]

    for level, extended in enumerate(found):
        bits = prefixes.bits[level] - (prefixes.bits[level - 1] if level else 0)
        assert len({each.tobytes() for each in extended}) == 2**bits == len(extended)
        assert (extended == prefixes.cut(row, level)).all(axis=1).sum() == 1
    assert prefixes.bits[-2:] == (8 * length, 8 * length)
