"""This package makes up believable crowds, one file a kind of domain, and knows the truth about them."""

from hubbub_lab.crowds import categories, numbers, vectors
from hubbub_lab.crowds.crowd import Crowd

KINDS: dict[str, Crowd] = {
    "boolean": categories,
    "choice": categories,
    "number": numbers,
    "vector": vectors,
}

__all__ = ["KINDS", "Crowd"]
