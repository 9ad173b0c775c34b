"""This file says which addresses of a collector may be asked: those that nobody on the way can listen to."""

from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from hubbub.errors import DomainError


def check_url(url: str) -> str:
    """Return a collector's address without a slash at its end.

    Raises DomainError for anything but https, or http on this very machine.

    >>> check_url("https://collector.example.org/")
    'https://collector.example.org'
    >>> check_url("http://collector.example.org")
    Traceback (most recent call last):
    hubbub.errors.DomainError: a collector's url must be https (http only on this machine, for tests)
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise DomainError("a collector's url must be an address like https://collector.example.org") from None
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(url)):
        raise DomainError("a collector's url must be https (http only on this machine, for tests)")
    if not host or "@" in parts.netloc or parts.query or parts.fragment:
        raise DomainError("a collector's url must be a plain address, without user, query or fragment")
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    """Tell whether an address is on this very machine."""
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"
