"""This file proves what an answer says: names, both errors, views, and honesty where reports are few."""

import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice, metric_of, number
from hubbub.errors import DomainError, MissingExtraError
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.analysis.answers import answer
from hubbub_server.analysis.lines import lines

DARK = boolean("dark", epsilon="1.0").of("notepad")
SYSTEM = choice("system", options=["linux", "mac", "other"], epsilon="2").of("notepad")
SECONDS = number("seconds", low=-5, high=15, epsilon="1.0").of("notepad")
METRICS = [
    DARK,
    SYSTEM,
    SECONDS,
    choice("many", options=list("abcdefgh"), epsilon=1, mechanism="optimized_unary").of("a"),
]


def name(metric: Metric) -> str:
    return metric.name


def tally_of(metric: Metric, values: list[int]) -> Tally:
    mechanism = registry.build(metric)
    return mechanism.tally(mechanism.perturb(np.array(values, dtype=int), seeded_coins(7)))


@pytest.mark.parametrize(
    ("metric", "names"),
    [(DARK, ["yes"]), (SYSTEM, ["linux", "mac", "other"]), (SECONDS, ["mean", "sum", "variance"])],
    ids=["boolean", "choice", "number"],
)
@pytest.mark.parametrize("n", [0, 1, 50])
def test_rows_bear_the_names_of_the_domain(metric: Metric, names: list[str], n: int) -> None:
    found = answer(metric, tally_of(metric, [0, 1] * (n // 2) + [1] * (n % 2)))

    assert [row.name for row in found.rows] == names


def test_a_boolean_answers_with_the_share_of_yes() -> None:
    found = answer(boolean("dark", epsilon="20").of("notepad"), Tally(4, np.array([1, 3])))

    assert found["yes"].value == pytest.approx(0.75, abs=1e-8)


@pytest.mark.parametrize("metric", METRICS, ids=name)
def test_no_reports_give_an_answer_that_says_so(metric: Metric) -> None:
    nothing = tally_of(metric, [0]) - tally_of(metric, [0])

    document = json.loads(json.dumps(answer(metric, nothing).document(), allow_nan=False))

    unknown = {"stderr": None, "interval": None}
    assert document["n"] == 0
    assert document["advice"][0].startswith("no reports, so nothing is known; about ")
    assert [row["value"] for row in document["rows"]] == [None] * len(document["rows"])
    assert document["rows"][0]["respondents"] == document["rows"][0]["population"] == unknown


@pytest.mark.parametrize("metric", METRICS, ids=name)
def test_one_report_gives_finite_numbers_or_null(metric: Metric) -> None:
    document = answer(metric, tally_of(metric, [1])).document()

    text = json.dumps(document, allow_nan=False)

    assert json.loads(text) == document
    assert document["rows"][0]["value"] is not None
    assert document["rows"][0]["respondents"]["interval"] is not None


@pytest.mark.parametrize("metric", METRICS, ids=name)
@pytest.mark.parametrize("level", [0.9, 0.999])
def test_as_many_reports_as_advised_give_intervals_as_narrow_as_promised(
    metric: Metric, level: float
) -> None:
    ends = [-5, 15] if metric is SECONDS else [0, 1]
    advice = answer(metric, tally_of(metric, [0]), level=level).advice[0]
    more = int(advice.split()[3].replace(",", ""))

    enough = answer(metric, tally_of(metric, ends * (more // 2 + 1)), level=level)

    low, high = enough.rows[0].population.interval or (0, 0)
    width = 20 if metric is SECONDS else 1
    assert 0.04 * width < (high - low) / 2 < 0.0525 * width  # the plan rounds up, and the data have luck
    assert not [sentence for sentence in enough.advice if "few reports" in sentence]


def test_periods_are_answered_together_by_adding_their_tallies() -> None:
    first, second = tally_of(SYSTEM, [0, 1, 2] * 20), tally_of(SYSTEM, [2] * 30)

    both = answer(SYSTEM, first + second, periods=2)

    shares = [
        (60 * a.value + 30 * b.value) / 90
        for a, b in zip(answer(SYSTEM, first).rows, answer(SYSTEM, second).rows, strict=True)
    ]
    assert both.n == 90
    assert [row.value for row in both.rows] == pytest.approx(shares)
    assert any("a report in each period" in sentence for sentence in both.advice)


def test_norm_sub_is_a_view_beside_the_raw_values() -> None:
    tally = Tally(10, np.array([9, 1, 0]))

    raw, viewed = answer(SYSTEM, tally), answer(SYSTEM, tally, view="norm-sub")

    assert [row.value for row in viewed.rows] == [row.value for row in raw.rows]
    assert [row.viewed for row in raw.rows] == [None] * 3
    assert raw["other"].value < 0
    assert [row.viewed for row in viewed.rows] == pytest.approx([1, 0, 0])


def test_a_view_without_reports_is_unknown_too() -> None:
    found = answer(SYSTEM, Tally.zero(3), view="norm-sub")

    assert [row.viewed for row in found.rows] == [None] * 3


@pytest.mark.parametrize(
    ("metric", "options", "words"),
    [
        (DARK, {"view": "norm-sub"}, "is for a choice"),
        (SECONDS, {"view": "norm-sub"}, "is for a choice"),
        (SYSTEM, {"view": "clipped"}, "must be one of raw, norm-sub, shrunk"),
        (SYSTEM, {"level": 0.4}, "level must be from 0.5"),
        (SYSTEM, {"level": float("nan")}, "level must be from 0.5"),
    ],
)
def test_an_unknown_view_or_level_is_refused(metric: Metric, options: dict[str, object], words: str) -> None:
    nothing = Tally.zero(3)

    with pytest.raises(DomainError, match=words):
        answer(metric, nothing, **options)  # type: ignore[arg-type]


def test_a_dangerous_epsilon_and_a_low_level_are_said() -> None:
    metric = boolean("dark", epsilon="5").of("notepad")

    advice = answer(metric, Tally(10**6, np.array([10, 10**6 - 10])), level=0.5).advice

    assert advice == (
        "epsilon 5 is above 4: one report all but tells its value",
        "at level 0.5 about one interval in 2 misses the truth",
        "if 1 % of these 1,000,000 reports are fake, a share may be off by up to 1.0 percentage points",
    )


def test_a_frame_holds_a_line_for_each_row() -> None:
    found = answer(SYSTEM, Tally(10, np.array([9, 1, 0])))

    frame = found.to_frame()

    assert frame["name"].tolist() == ["linux", "mac", "other"]
    assert frame["value"].tolist() == [row.value for row in found.rows]
    assert frame["population_high"].tolist() == [
        row.population.interval[1] for row in found.rows if row.population.interval
    ]


def test_a_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found = answer(SYSTEM, Tally.zero(3))
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(MissingExtraError, match=r"pip install '\.\[frames\]' in a clone"):
        found.to_frame()


def test_lines_show_the_view_the_level_and_the_advice() -> None:
    text = lines(answer(SYSTEM, Tally(10, np.array([9, 1, 0])), view="norm-sub", level=0.9))

    assert re.search(
        "estimate  norm-sub  respondents: stderr +90 % interval +population: stderr +90 % interval\n", text
    )
    assert text.splitlines()[-2].startswith("note: few reports: about ")


def test_no_text_that_was_found_turns_the_words_of_a_terminal_round() -> None:
    table = {"kind": "text", "length": 8, "epsilon": "4", "mechanism": "count_mean_sketch"}
    metric = metric_of("app", table).of("notepad")
    mechanism = registry.build(metric)

    found = answer(metric, mechanism.tally(np.zeros(5, mechanism.layout)), candidates=["\u202eexe.a"])

    assert found.rows[0].name == "\u202eexe.a"
    assert lines(found).splitlines()[3].startswith("\\u202eexe.a ")


@pytest.mark.parametrize(
    ("metric", "n", "sentence"),
    [
        (
            DARK,
            1_000,
            "if 1 % of these 1,000 reports are fake, a share may be off by up to 2.2 percentage points",
        ),
        (SECONDS, 1_000, "if 1 % of these 1,000 reports are fake, the mean may be off by up to 11.4"),
        (DARK, 50, "if one of these reports is fake, a share may be off by up to 4.3 percentage points"),
    ],
    ids=["share", "number", "few"],
)
def test_an_answer_says_how_far_fake_reports_may_have_moved_it(metric: Metric, n: int, sentence: str) -> None:
    found = answer(metric, tally_of(metric, [0, 1] * (n // 2)))

    assert found.advice[-1] == sentence


@pytest.mark.parametrize("view", ["raw", "norm-sub"])
def test_each_row_says_how_far_a_fake_may_have_moved_its_raw_value(view: str) -> None:
    found = answer(SYSTEM, Tally(10, np.array([9, 1, 0])), view=view)  # type: ignore[arg-type]

    p, q = math.exp(2) / (math.exp(2) + 2), 1 / (math.exp(2) + 2)
    moved = 1 / (10 * (p - q))
    assert [row.per_fake for row in found.rows] == pytest.approx([moved] * 3)
    assert [row["per_fake"] for row in found.document()["rows"]] == pytest.approx([moved] * 3)


def test_what_is_not_known_of_fake_reports_is_said_to_be_unknown() -> None:
    metric = number("seconds", low=0, high=10, epsilon="1.0", mechanism="square_wave").of("notepad")

    found = answer(metric, tally_of(metric, [1, 2, 3]))

    assert {row.per_fake for row in found.rows} == {None}
    assert found.advice[-1] == "how far fake reports move these values is not known"


def test_answers_need_no_flask_and_no_pandas() -> None:
    code = (
        "import sys, hubbub_server.analysis.lines; print({'flask', 'pandas', 'sqlite3'} & set(sys.modules))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("table", "goal"),
    [
        (
            {"kind": "key_value", "keys": ["a", "b"], "range": [0, 60], "most": 1},
            "of a share, not of a mean, of at most +-5 percentage points",
        ),
        (
            {"kind": "number", "range": [0, 10], "mechanism": "square_wave"},
            "of the mean of at most +-0.5 (5 % of the range)",
        ),
        (
            {"kind": "vector", "size": 2, "norm": 3, "mechanism": "private_unit"},
            "of a coordinate of at most +-0.3 (5 % of the range)",
        ),
        ({"kind": "number", "range": [0, 10]}, "about the population of at most +-0.5 (5 % of the range)"),
    ],
    ids=["key_value", "distribution", "vector", "number"],
)
def test_what_more_reports_would_give_is_in_the_unit_of_the_rows_they_are_counted_for(
    table: dict[str, object], goal: str
) -> None:
    metric = metric_of("asked", {**table, "epsilon": 1}).of("notepad")

    (first, *_) = answer(metric, Tally.zero(0)).advice

    assert first.endswith(f"{goal} at level 0.95")


def test_the_mean_of_a_key_that_hardly_anyone_has_is_unknown_and_said_to_be() -> None:
    table = {"kind": "key_value", "keys": ["c", "d"], "range": [0, 120], "most": 1, "epsilon": 1}
    pluses, minuses = [380, 800], [350, 400]

    found = answer(metric_of("words", table).of("notepad"), Tally(2_000, np.array(pluses + minuses)))

    rare, usual = found["c: mean"], found["d: mean"]
    assert (rare.value, rare.population.stderr, rare.population.interval) == (None, None, None)
    low, high = usual.population.interval or (1, 0)
    assert low < (usual.value or 0) < high
    assert "unknown, since too few have it or told of it: c: mean" in found.advice
