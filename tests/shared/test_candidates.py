"""This file proves that every mechanism is a candidate, judged by its exact error and by the limits given."""

from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from hubbub import registry
from hubbub.candidates import Candidate, candidates
from hubbub.declaration import choice, metric_of, number
from hubbub.domains.boolean import Boolean
from hubbub.domains.choice import Choice
from hubbub.domains.key_value import KeyValue
from hubbub.domains.number import Number
from hubbub.domains.record import Record
from hubbub.epsilon import Epsilon
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.parameter import Word
from hubbub.planning import best, least
from hubbub.tally import Tally

FOUR, MANY = Choice(tuple("abcd")), Choice(tuple(f"option {i}" for i in range(600)))
RANGE = Number(Decimal(0), Decimal(10))


class Made:
    """A stand-in for a mechanism, made for halves of epsilon only, with figures that a test chooses."""

    kind: ClassVar[str] = "made"
    unbiased = True
    rows = (Quantity("mean", "number"),)
    layout = np.dtype("<u2")

    def __init__(self, epsilon: Epsilon, form: str, *, exact: bool = True) -> None:
        if epsilon.exact % Fraction(1, 2):
            raise DomainError("made for halves only")
        self.spread = {"plain": 2.0, "fine": 1.0}[form]
        self.exact = exact

    def loss(self) -> None:
        return None

    def tally(self, _: object) -> Tally:
        return Tally.zero(3)

    def stderr(self, _: int, **__: float) -> float:
        return self.spread


def sound(*, epsilon: Epsilon, form: str = "plain", **_: object) -> Made:
    return Made(epsilon, form)


def inexact(*, epsilon: Epsilon, **_: object) -> Made:
    return Made(epsilon, "plain", exact=False)


def only(monkeypatch: pytest.MonkeyPatch, made: str, *parameters: Word) -> None:
    entry = registry.Entry(
        "made", ("number",), f"tests.shared.test_candidates:{made}", parameters, spacing=500_000
    )
    monkeypatch.setattr(registry, "ENTRIES", (entry,))


@pytest.mark.parametrize("domain", [Boolean(), FOUR, RANGE], ids=lambda domain: domain.kind)
def test_every_mechanism_that_answers_a_domain_without_a_memo_is_a_candidate(domain: Any) -> None:
    kinds = [each.kind for each in registry.ENTRIES if domain.kind in each.domains and not each.remembers]

    assert list(dict.fromkeys(each.kind for each in candidates(domain, "1"))) == kinds


def test_a_question_that_is_asked_again_and_again_is_for_mechanisms_with_a_memo() -> None:
    kinds = {each.kind for each in candidates(FOUR, "2", longitudinal=True, given={"first": "1"})}

    assert kinds == {each.kind for each in registry.ENTRIES if "choice" in each.domains and each.remembers}


def test_what_only_a_person_can_say_is_asked_for() -> None:
    found = {each.kind: each for each in candidates(FOUR, "2", longitudinal=True)}

    assert found["l_grr"].why_not == (
        'leaves first to you; try half of epsilon: mechanism = "l_grr" and parameters = { first = "1" }'
    )
    assert not found["l_grr"].is_built


@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_a_mechanism_that_fails_its_epsilon_is_chosen_only_for_a_metric_that_says_how_often(
    delta: str,
) -> None:
    vector = {"kind": "vector", "size": 4, "norm": 1, "epsilon": 1, "mechanism": "best", "delta": delta}

    found = {each.kind: each for each in candidates(metric_of("gradient", vector))}

    gaussian = found["gaussian"]
    assert (gaussian.why_not == "", gaussian.is_built) == (delta != "0", delta != "0")
    assert 'write mechanism = "gaussian" and delta = "1e-9"' in gaussian.why_not or delta != "0"
    assert gaussian.loss is None or gaussian.loss.delta > 0


def test_a_mechanism_that_never_fails_is_not_chosen_for_a_metric_with_a_delta() -> None:
    metric = metric_of("dark", {"kind": "boolean", "epsilon": 1, "mechanism": "best", "delta": "1e-9"})

    (found,) = candidates(metric)

    assert found.why_not == "never fails its epsilon, so that delta must be left out"


def test_a_metric_gives_its_epsilon_and_all_else_that_it_says() -> None:
    metric = choice("word", options=["a", "b"], epsilon="1.5", once=True, mechanism="optimized_unary")

    found = candidates(metric)

    assert {str(each.epsilon) for each in found if each.is_built} == {"1.5"}
    assert all(each.metric.once for each in found)


def test_a_domain_needs_an_epsilon() -> None:
    with pytest.raises(DomainError, match="give an epsilon"):
        candidates(FOUR)


def test_the_error_is_the_mean_square_over_all_categories_whatever_their_shares() -> None:
    shares = [0.7, 0.2, 0.1, 0.0]

    found = candidates(FOUR, "1")

    squares = [
        sum(registry.build(each.metric).stderr(1, frequency=share) ** 2 for share in shares) for each in found
    ]
    assert len(found) > 5
    assert [each.error**2 for each in found] == pytest.approx([each / 4 for each in squares], rel=1e-12)


def test_limits_on_report_and_tally_are_kept() -> None:
    wide = {each.kind: each for each in candidates(MANY, "1")}
    wider = {each.kind: each for each in candidates(MANY, "1", bits=600)}
    narrow = {each.kind: each for each in candidates(MANY, "1", cells=599)}

    assert wide["optimized_unary"].why_not == "has reports of 600 bits, over 512"
    assert wider["optimized_unary"].why_not == ""
    assert narrow["randomized_response"].why_not == "has tallies of 600 cells, over 599"


def test_each_word_of_a_parameter_is_a_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "sound", Word("form", "plain", ("plain", "fine")))

    found = candidates(RANGE, "1")

    assert [(each.parameters, each.error) for each in found] == [
        ({"form": "plain"}, 2.0),
        ({"form": "fine"}, 1.0),
    ]
    assert best(RANGE, "1").parameters == {"form": "fine"}
    assert best(RANGE, "1", given={"form": "plain"}).error == 2.0


@pytest.mark.parametrize(("asked", "made"), [("1", "1"), ("1.3", "1"), ("0.999999", "0.5"), ("20", "20")])
def test_a_mechanism_made_for_some_epsilons_is_taken_at_the_next_smaller_one(
    monkeypatch: pytest.MonkeyPatch, asked: str, made: str
) -> None:
    only(monkeypatch, "sound")

    assert str(best(RANGE, asked).epsilon) == made


def test_a_mechanism_that_is_made_for_no_smaller_epsilon_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "sound")

    with pytest.raises(DomainError, match="no mechanism can be chosen: made made for halves only"):
        best(RANGE, "0.4")


def test_what_is_inexact_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "inexact")

    with pytest.raises(DomainError, match="is not exact"):
        best(RANGE, "1")


def test_what_is_biased_is_chosen_only_where_nothing_exact_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [registry.entry(kind) for kind in ("laplace", "square_wave", "key_value_unary")]
    monkeypatch.setattr(registry, "ENTRIES", entries)
    keys = KeyValue(("a", "b"), RANGE, most=1)

    numbers = {each.kind: each.why_not for each in candidates(RANGE, "1")}
    chosen = best(keys, "1")

    assert numbers == {"laplace": "", "square_wave": "is not unbiased"}
    assert (chosen.kind, chosen.is_unbiased) == ("key_value_unary", False)


def test_nothing_answers_a_domain_that_no_mechanism_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "sound")

    with pytest.raises(DomainError, match="nothing answers its domain"):
        best(FOUR, "1")


def test_of_equal_errors_the_shortest_report_wins_and_then_the_first() -> None:
    metric = number("seconds", low=0, high=1, epsilon=1)
    rows = [("a", 2.0, 8), ("b", 1.0, 16), ("c", 1.0 + 1e-15, 8), ("d", 1.0, 8), ("e", 0.5, 1)]
    found = [
        Candidate(kind, metric, "no" * (kind == "e"), "number", error, bits) for kind, error, bits in rows
    ]

    chosen = least(found)

    assert chosen is not None
    assert chosen.kind == "c"
    assert least([]) is None


def test_several_facts_at_once_are_planned_for_the_one_with_fewest_categories() -> None:
    record = Record((("dark", Boolean()), ("letter", FOUR)))

    found = {each.kind: each for each in candidates(record, "1", given={"oracle": "randomized_response"})}

    assert found
    assert [each.error for each in found.values()] == pytest.approx(
        [registry.build(each.metric).stderr(1, frequency=0.5) for each in found.values()]
    )
