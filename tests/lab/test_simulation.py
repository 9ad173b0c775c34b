"""This file proves that simulations are repeatable, true to the law, and set beside the right truth."""

import json
import tracemalloc

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice, metric_of, number, text
from hubbub.errors import DomainError
from hubbub.manifest import Manifest
from hubbub.mechanisms.laplace import Laplace
from hubbub.metric import Metric
from hubbub_lab.population import Population
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_lab.simulation import Mode, Result, _aggregate, _per_user, simulate
from tests.statistics import far

DARK = boolean("dark", epsilon="1.0")
SYSTEM = choice("system", options=["linux", "mac", "other"], epsilon="2")
PAGE = choice("page", options=list("abcdefgh"), epsilon="0.5", mechanism="optimized_unary")
SECONDS = number("seconds", low=-5, high=15, epsilon="1.0")
Z = 6.0  # two in a thousand million for each comparison


def notepad(*metrics: Metric) -> Manifest:
    return Manifest(app="notepad", serial=1, metrics=metrics)


MANIFEST = notepad(DARK, SYSTEM, PAGE, SECONDS)
MODES: list[Mode] = ["aggregate", "per-user"]


def documents(results: list[Result]) -> str:
    return json.dumps([result.document() for result in results], allow_nan=False)


@pytest.mark.parametrize("mode", MODES)
def test_one_seed_gives_one_result(mode: Mode) -> None:
    first, second = (documents(simulate(MANIFEST, 1000, seed=3, mode=mode)) for _ in range(2))

    assert first == second


@pytest.mark.parametrize("mode", MODES)
def test_another_seed_gives_another_truth_and_other_coins(mode: Mode) -> None:
    first, second = (simulate(MANIFEST, 1000, seed=seed, mode=mode)[0].comparisons[0] for seed in (3, 4))

    assert first.truth != second.truth
    assert first.error != second.error


def test_a_metric_comes_out_the_same_whatever_else_is_asked() -> None:
    alone, among = simulate(notepad(SYSTEM), 1000), simulate(MANIFEST, 1000)

    assert documents(alone) == documents(among[1:2])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("people", [1, 2, 300, 200_000])
def test_estimates_are_within_their_errors_of_the_truth(mode: Mode, people: int) -> None:
    results = simulate(MANIFEST, people, seed=11, mode=mode)

    off = [
        abs(each.standard_errors)
        for result in results
        for each in result.comparisons
        if each.standard_errors is not None
    ]
    assert len(off) >= 14
    assert max(off) < Z


def test_both_modes_ask_the_same_people() -> None:
    aggregate, per_user = (simulate(MANIFEST, 5000, mode=mode) for mode in MODES)

    truths = [
        [each.truth for result in results for each in result.comparisons] for results in (aggregate, per_user)
    ]
    assert truths[0] == truths[1]


def test_given_people_are_asked_instead_of_made_up_ones() -> None:
    people = {
        "dark": np.array([True] * 30 + [False] * 70),
        "system": ["mac"] * 3 + ["linux"],
        "seconds": [0.25, 0.75, -100, 100],
    }

    results = simulate(MANIFEST, 50, population=people)

    truth = {result.metric.name: [each.truth for each in result.comparisons] for result in results}
    assert [result.answer.n for result in results] == [100, 4, 50, 4]
    assert truth["dark"] == [0.3]
    assert truth["system"] == [0.25, 0.75, 0]
    assert truth["seconds"][:2] == [2.75, 11]  # what lies outside the range counts as its end
    assert truth["seconds"][2] == pytest.approx(np.var([0.25, 0.75, -5, 15], ddof=1))


@pytest.mark.parametrize(
    ("people", "words"),
    [
        ({"unknown": [True]}, "no metric"),
        ({"dark": [1, 0]}, "must be True or False"),
        ({"dark": []}, "one answer a person"),
        ({"dark": [[True]]}, "one answer a person"),
        ({"system": ["linux", "amiga"]}, "none of the 3 options"),
        ({"seconds": [1.0, float("nan")]}, "finite"),
    ],
)
def test_people_who_cannot_answer_are_refused(people: dict[str, object], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        simulate(MANIFEST, population=people)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"mode": "fast"}, "mode must be"), ({"people": 0}, "people must be"), ({"level": 2}, "level must be")],
)
def test_wrong_options_are_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        simulate(MANIFEST, **options)  # type: ignore[arg-type]


def test_an_open_mechanism_is_refused() -> None:
    manifest = notepad(boolean("dark", epsilon=1, mechanism="best"))

    with pytest.raises(DomainError, match="leaves its mechanism open"):
        simulate(manifest)


def test_a_mechanism_without_a_law_for_everybody_is_simulated_by_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Laplace, "simulate", lambda *_: None)

    result = simulate(notepad(SECONDS), 1000)[0]

    assert (result.asked, result.mode) == ("aggregate", "per-user")
    assert "no law for everybody" in result.note
    assert result.answer.n == 1000


@pytest.mark.parametrize(
    "entry", [entry for entry in registry.ENTRIES if "number" in entry.domains], ids=lambda entry: entry.kind
)
def test_people_between_two_points_are_rounded_one_by_one_in_either_mode(entry: registry.Entry) -> None:
    table = {"kind": "number", "range": [0, 1], "epsilon": 8, "mechanism": entry.kind}
    few = {"steps": 1, "buckets": 16}  # so that little else moves an estimate
    given = {each.name: few[each.name] for each in entry.parameters if each.name in few}
    metric = metric_of("seconds", {**table, "parameters": given})
    mechanism, coins, rounds = registry.build(metric), seeded_coins(31), 2_000
    crowd = Population(np.array([0.3, 0.71, -2.0]), np.array([60, 50, 1]))

    modes = (
        lambda: _aggregate(metric, mechanism, crowd, coins),
        lambda: _per_user(mechanism, crowd, coins),
    )
    aggregate, per_user = (np.array([draw().cells for _ in range(rounds)], dtype=float) for draw in modes)

    spreads = [(cells - cells.mean(axis=0)) ** 2 for cells in (aggregate, per_user)]
    assert (far(aggregate - per_user, np.zeros(aggregate.shape[1])) < Z).all()
    assert (far(spreads[0] - spreads[1], np.zeros(aggregate.shape[1])) < Z).all()


def test_made_up_numbers_are_the_same_people_whatever_asks_them() -> None:
    asked = [
        number("seconds", low=0, high=10, epsilon=1, mechanism=mechanism)
        for mechanism in ("laplace", "one_bit_mean", "square_wave")
    ]

    results = [simulate(notepad(metric), 1000)[0] for metric in asked]

    means = [result.truth["mean"] for result in results]
    assert means[0] == means[1] == means[2]


@pytest.mark.parametrize("people", [1, 2, 5, 7, 100])
def test_chunks_hand_out_everybody_once(people: int) -> None:
    crowd = Population(np.array([3, 1, 2]), np.array([4, 0, 3]))

    chunks = list(crowd.chunks(people))

    assert np.concatenate(chunks).tolist() == [3] * 4 + [2] * 3
    assert {chunk.size for chunk in chunks[:-1]} <= {people}


@pytest.mark.torture
def test_memory_does_not_grow_with_the_people_flipping_coins() -> None:
    peaks = []

    for people in (2_000_000, 16_000_000):
        tracemalloc.start()
        simulate(notepad(DARK), people, mode="per-user")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < 1.2 * peaks[0]


def test_a_billion_people_answer_by_the_law_of_their_sums() -> None:
    results = simulate(notepad(DARK, SYSTEM, PAGE), 10**9)

    off = [abs(each.standard_errors or 0) for result in results for each in result.comparisons]
    assert {result.mode for result in results} == {"aggregate"}
    assert 0 < max(off) < Z


def test_too_many_people_to_go_through_one_by_one_are_refused() -> None:
    manifest = Manifest(app="notepad", serial=1, metrics=(text("words", length=4, epsilon="1"),))

    with pytest.raises(DomainError, match="person by person"):
        simulate(manifest, people=10**12)
