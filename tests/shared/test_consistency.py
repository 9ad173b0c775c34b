"""This file checks that the view of shares is the nearest point of the simplex."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.consistency import norm_sub

shares = st.lists(st.floats(-3, 3), min_size=1, max_size=30).map(np.array)


@given(values=shares)
def test_a_view_is_made_of_shares(values: "np.ndarray") -> None:  # type: ignore[type-arg]
    view = norm_sub(values)

    assert (view >= 0).all()
    assert view.sum() == pytest.approx(1)


@given(values=shares, other=shares)
def test_no_other_shares_are_nearer(values: "np.ndarray", other: "np.ndarray") -> None:  # type: ignore[type-arg]
    view = norm_sub(values)
    rival = np.resize(np.abs(other) + 1e-9, values.size)

    rival = rival / rival.sum()

    assert ((values - view) ** 2).sum() <= ((values - rival) ** 2).sum() + 1e-9


@given(values=shares)
def test_shares_that_are_consistent_stay_as_they_are(values: "np.ndarray") -> None:  # type: ignore[type-arg]
    consistent = norm_sub(values)

    again = norm_sub(consistent)

    assert again == pytest.approx(consistent)


def test_a_true_share_of_one_is_seen_as_one() -> None:
    assert norm_sub(np.array([1.05, -0.03, -0.02])).tolist() == pytest.approx([1, 0, 0])
