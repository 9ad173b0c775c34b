"""This file reads the population: what each person would say, and what is true of many."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.metric import Metric

SOURCE = Path(__file__).parents[1] / "data" / "rand_health.csv"


@dataclass(frozen=True, slots=True)
class Person:
    """One person-year; a field for each metric of the manifest."""

    physical_limitation: bool
    self_rated_health: str
    doctor_visits: int


def read_population() -> list[Person]:
    """Return the 20,190 person-years of the experiment."""
    with SOURCE.open(newline="") as file:
        return [_person(row) for row in csv.DictReader(file)]


def _person(row: dict[str, str]) -> Person:
    rated = [
        health
        for health, column in (("good", "hlthg"), ("fair", "hlthf"), ("poor", "hlthp"))
        if row[column] == "1"
    ]
    return Person(
        physical_limitation=float(row["physlm"]) >= 0.5,
        self_rated_health=rated[0] if rated else "excellent",
        doctor_visits=int(row["mdvis"]),
    )


def inputs(metric: Metric, people: Sequence[Person]) -> "np.ndarray[Any, Any]":
    """Return what the metric's mechanism takes in for each person, shape (people,)."""
    return np.array([metric.domain.encode(getattr(person, metric.name)) for person in people])


def truth(metric: Metric, people: Sequence[Person]) -> dict[str, float]:
    """Return what is true of these people, by the name of the answer's row."""
    values = inputs(metric, people)
    if metric.domain.kind == "number":
        low, high = map(float, metric.domain.names)
        return {"mean": float(np.clip(values, low, high).mean())}
    names = metric.domain.names
    shares = {name: float((values == index).mean()) for index, name in enumerate(names)}
    return {"yes": shares["yes"]} if metric.domain.kind == "boolean" else shares
