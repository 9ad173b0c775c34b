"""This file keeps a text from moving a terminal's cursor or turning its own words round, when it is shown."""


def printable(text: str) -> str:
    r"""Return a text with an escape in the place of every character that is not seen itself.

    Those are control characters, the ones that set the direction of writing, and lone surrogates.

    >>> printable("safe \x1b[2K, then \u202eefas")
    'safe \\x1b[2K, then \\u202eefas'
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def is_plain(text: str) -> bool:
    """Tell whether a text has nothing to escape but the ends of its lines."""
    return text.replace("\n", " ").isprintable()
