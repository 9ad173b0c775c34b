"""This package makes up believable crowds, one file a kind of domain, and knows the truth about them."""

from hubbub_lab.crowds import categories, choices, key_values, numbers, records, selections, texts, vectors
from hubbub_lab.crowds.crowd import Crowd

KINDS: dict[str, Crowd] = {
    "boolean": categories,
    "choice": categories,
    "number": numbers,
    "choices": choices,
    "record": records,
    "key_value": key_values,
    "selection": selections,
    "text": texts,
    "vector": vectors,
}

__all__ = ["KINDS", "Crowd"]
