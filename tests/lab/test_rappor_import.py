"""This file proves that collections in the form of google/rappor are read and decoded, or refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hubbub.errors import DomainError
from hubbub_lab.cli import command
from hubbub_lab.rappor_import import Collection, read
from hubbub_lab.seeded_coins import seeded_coins

PUBLISHED = Path(__file__).parents[2] / "examples" / "data" / "rappor"
FILES = [str(PUBLISHED / f"{name}.csv") for name in ("params", "counts", "map")]
FIRST = [f"V_{number}" for number in range(1, 21)]
SMALL = {
    "params": '"k","h","m","p","q","f"\n4,1,2,0.5,0.75,0\n',
    "counts": "100,60,50,50,50\n100,50,60,50,50\n",
    "map": '"a",1,6\n"b",2,\n',
}


def collection(directory: Path, **changed: str) -> Collection:
    paths = {name: directory / f"{name}.csv" for name in SMALL}
    for name, path in paths.items():
        path.write_text(changed.get(name, SMALL[name]), encoding="utf-8")
    return read(paths["params"], paths["counts"], paths["map"])


def test_the_published_candidates_have_the_shares_of_an_independent_decoder() -> None:
    published = read(*map(Path, FILES))

    found = published.shares()

    names = [row.name for row in found.rows]
    first = [names.index(name) for name in FIRST]
    reference = _reference(published)
    stderr = found.stderr("respondents")
    assert (np.abs(found.values - reference) < 4 * stderr)[first].all()
    assert found.non_negative == pytest.approx(reference, abs=1e-5)
    assert found.n == 10_000_000


def _reference(published: Collection) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Solve the non-negative least squares by coordinate descent, down to the conditions of an optimum."""
    design = np.zeros((published.counts.size, len(published.candidates)))
    for column, places in enumerate(published.candidates.values()):
        design[places, column] = 1
    seen = ((published.counts / published.sizes[:, None] - 0.5) / 0.25).reshape(-1)
    gram, moment = design.T @ design, design.T @ seen
    shares = np.zeros(moment.size)
    for _ in range(400):
        for place in range(moment.size):
            shares[place] = max(
                0.0, shares[place] + (moment[place] - gram[place] @ shares) / gram[place, place]
            )
    slope = moment - gram @ shares
    assert (slope < 1e-6).all()
    assert np.abs(slope[shares > 0]).max() < 1e-6
    return shares


def test_the_published_collection_costs_twice_the_log_of_three_and_says_what_it_is() -> None:
    published = read(*map(Path, FILES))

    notes = " ".join(published.notes)

    assert published.parameters.epsilon == pytest.approx(np.log(9), rel=1e-15)
    assert "one-time RAPPOR of epsilon 2.1972" in notes
    assert "can't serve as a longitudinal metric" in notes
    assert "19 rows of the map have blank cells" in notes


def test_shares_of_a_made_up_collection_are_unbiased_with_the_stated_error(tmp_path: Path) -> None:
    k, m, n = 16, 4, 20_000
    held = np.array([0.5, 0.3, 0.2])
    coins = seeded_coins(81).generator
    places = [coins.choice(k, 2, replace=False) for _ in range(3 * m)]
    rows = [
        [cohort * k + 1 + place for cohort in range(m) for place in places[text * m + cohort]]
        for text in range(3)
    ]
    bits = "\n".join(f"t{text},{','.join(map(str, row))}" for text, row in enumerate(rows))
    sets = np.array(
        [[np.isin(np.arange(k), places[text * m + cohort]) for text in range(3)] for cohort in range(m)]
    )
    rounds, off = 200, []
    for _ in range(rounds):
        people = coins.multinomial(n, np.outer(np.full(m, 1 / m), held).reshape(-1)).reshape(m, 3)
        ones = np.einsum("ct,ctk->ck", people, sets)
        counts = coins.binomial(ones, 0.75) + coins.binomial(people.sum(1)[:, None] - ones, 0.5)
        text = "\n".join(
            ",".join(map(str, [size, *row])) for size, row in zip(people.sum(1), counts.tolist(), strict=True)
        )

        found = collection(
            tmp_path, params=f'"k","h","m","p","q","f"\n{k},2,{m},0.5,0.75,0\n', counts=text, map=bits
        ).shares()

        off.append((found.values - held) / found.stderr("population"))

    assert np.abs(np.mean(off, axis=0) * np.sqrt(rounds)).max() < 6
    assert 0.7 < np.mean(np.square(off)) < 1.2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"params": SMALL["params"].replace(",0\n", ",0.5\n")}, "f is 0.5"),
        ({"params": SMALL["params"].replace("0.75", "0.5")}, "0 < p < q < 1"),
        ({"params": SMALL["params"].replace("0.75", "1")}, "0 < p < q < 1"),
        ({"params": SMALL["params"].replace("4,1", "4.5,1")}, "whole numbers"),
        ({"params": SMALL["params"].replace("0.75", "nan")}, "decimal"),
        ({"params": "4,1,2,0.5,0.75,0\n"}, "line of names"),
        ({"counts": "100,60,50,50\n100,50,60,50\n"}, "2 rows of 5 numbers"),
        ({"counts": "100,60,50,50,50\n"}, "2 rows of 5 numbers"),
        ({"counts": SMALL["counts"].replace("60", "101")}, "more reports"),
        ({"counts": SMALL["counts"].replace("60", "-1")}, "more reports"),
        ({"counts": SMALL["counts"].replace("60", "x")}, "whole numbers"),
        ({"map": '"a",1,9\n'}, "outside 1 to 8"),
        ({"map": '"a",0,5\n'}, "outside 1 to 8"),
        ({"map": '"a",1,6\n"a",2,5\n'}, "twice"),
    ],
    ids=str,
)
def test_files_that_are_no_one_time_collection_are_refused(
    tmp_path: Path, changed: dict[str, str], message: str
) -> None:
    with pytest.raises(DomainError, match=message):
        collection(tmp_path, **changed)


def test_candidates_that_set_the_same_bits_are_refused(tmp_path: Path) -> None:
    alike = collection(tmp_path, map='"a",1,6\n"b",1,6\n')

    with pytest.raises(DomainError, match="can't be told apart"):
        alike.shares()


def test_the_command_prints_every_candidate_and_the_notes() -> None:
    result = CliRunner().invoke(command, ["rappor", *FILES])

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[3].split() == ["V_1", "3.269", "%", "0.055", "%", "3.260", "%"]
    assert len(lines) == 3 + 300 + 2
    assert lines[-1] == "note: 19 rows of the map have blank cells, which set no bit"


def test_the_command_writes_the_same_for_programs() -> None:
    result = CliRunner().invoke(command, ["rappor", *FILES, "--format", "json"])

    document = json.loads(result.stdout)
    assert result.exit_code == 0
    assert list(document) == ["hubbub", "reports", "epsilon", "rows", "notes"]
    assert len(document["rows"]) == 300
    first = document["rows"][0]
    assert first["name"] == "V_1"
    assert [f"{100 * first[key]:.3f}" for key in ("value", "respondents_stderr", "non_negative")] == [
        "3.269",
        "0.055",
        "3.260",
    ]
    assert first["population_stderr"] > first["respondents_stderr"]
    assert document["notes"][-1] == "19 rows of the map have blank cells, which set no bit"


def test_the_command_ends_with_1_and_a_line_if_files_do_not_go_together(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("1,2\n")

    result = CliRunner().invoke(command, ["rappor", FILES[0], str(tmp_path / "counts.csv"), FILES[2]])

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "hubbub: counts.csv must have 8 rows of 129 numbers\n"
