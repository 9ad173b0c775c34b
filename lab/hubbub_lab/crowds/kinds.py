"""This file lists the kinds of crowds, by the kind of a metric's domain."""

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
