"""This file says what it means that a letter could not be sent, and where to look."""

_PUBLISHED = "is the manifest that this app ships published there?"
_URL = "is the url right?"
_LOOKS = {
    "unauthorized": "is the key the hb_ingest_ key that the collector's operator gave you?",
    "forbidden": "an hb_ingest_ key is needed, not one of another kind",
    "not_found": _URL,
    "method_not_allowed": _URL,
    "unsupported_media_type": _URL,
    "unknown_metric": _PUBLISHED,
    "period_not_started": "is this device's clock right?",
    "period_closed": "is this device's clock right?",
}


def answered(code: str) -> str:
    """Say that a collector, or whatever stands at its address, gave an answer.

    >>> answered("not_found"), answered("overloaded")
    ('the collector answered not_found (is the url right?)', 'the collector answered overloaded')
    >>> answered("http_502")
    'something that is no collector answered 502 (is the url right?)'
    """
    if code == "no_answer":
        return "no answer from the collector"
    if code.startswith("http_"):
        return f"something that is no collector answered {code.removeprefix('http_')} ({_URL})"
    look = _LOOKS.get(code, "")
    return f"the collector answered {code}{f' ({look})' if look else ''}"
