"""This file turns a text into the bytes that mechanisms are told of, and back."""

import unicodedata

from hubbub.errors import DomainError

LONGEST_DECOMPOSED = 4  # code points that NFC makes one of, at most


def check_length(length: int) -> int:
    """Return how many bytes a text may fill, refusing what is outside 1 to 64.

    Raises DomainError.
    """
    if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= 64:
        raise DomainError("length must be an integer from 1 to 64, the most bytes that a text may fill")
    return length


def canonical(text: str, length: int) -> str:
    """Return a text in Unicode form NFC.

    Raises DomainError, which never repeats the text, if it has control characters or half a surrogate pair,
    or fills over ``length`` bytes of UTF-8.
    """
    if len(text) > LONGEST_DECOMPOSED * length:  # said before all of it is looked at
        raise _too_long(length)
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in text):
        raise DomainError("a text must have no control characters, such as line ends")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise DomainError("a text must be such that UTF-8 can hold it, without lone surrogates")
    clean = unicodedata.normalize("NFC", text)
    if len(clean.encode()) > length:
        raise _too_long(length)
    return clean


def padded(text: str, length: int) -> bytes:
    r"""Return the bytes of a text with zeros behind, ``length`` in all.

    Raises DomainError like ``canonical``.

    >>> padded("né", 5)
    b'n\xc3\xa9\x00\x00'
    """
    return canonical(text, length).encode().ljust(length, b"\0")


def text_of(row: bytes) -> str | None:
    r"""Return the text that a row of bytes is; None if it is none's.

    >>> text_of(padded("linux", 8)), text_of(b"a\x00b"), text_of(b"\xff")
    ('linux', None, None)
    """
    try:
        text = row.rstrip(b"\0").decode()
        return text if canonical(text, len(row)) == text else None
    except (UnicodeDecodeError, DomainError):
        return None


def _too_long(length: int) -> DomainError:
    return DomainError(f"a text must fill at most {length} bytes of UTF-8; cut longer ones")
