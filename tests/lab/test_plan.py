"""This file proves what ``hubbub plan`` says, writes and ends with."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub import registry
from hubbub.declaration import choice, metric_of
from hubbub.manifest import Manifest
from hubbub.planning import required_reports
from hubbub_lab import plan_lines
from hubbub_lab.accounts import account
from hubbub_lab.cli import command
from hubbub_lab.costs import REPORTS, TIMES, cost
from hubbub_lab.plan import plans

MANIFEST = """\
format = 1
app = "notepad"
serial = 1

[metrics.dark]  # a comment
kind = "boolean"
epsilon = "1.0"
mechanism = "best"

[metrics.word]
kind = "choice"
options = ["a", "b", "c"]
epsilon = 2
mechanism = "optimized_unary"

[metrics.seconds]
kind = "number"
range = [0, 10]
epsilon = "2"
mechanism = "laplace"
parameters.steps = 16
"""
MEMO = {
    "kind": "choice",
    "options": ["a", "b"],
    "epsilon": 2,
    "mechanism": "l_grr",
    "parameters": {"first": "1"},
}


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "metrics.toml"
    file.write_text(MANIFEST)
    return file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["plan", *map(str, arguments)], catch_exceptions=False)


def test_a_plan_names_the_choice_the_error_and_what_it_takes(manifest: Path) -> None:
    result = run(manifest, "--reports", 10_000, "--error", 0.01)

    dark = result.stdout.split("\n\n")[0].splitlines()
    assert result.exit_code == 0
    assert dark[0].startswith("dark (boolean, epsilon 1): randomized_response: ")
    assert dark[3].split()[:5] == ["best", "randomized_response", "1", "0.96", "points"]
    assert dark[-1] == (
        "a standard error of 1.0 points takes 9,207 reports; half the epsilon makes the error "
        "2.06 times as large, or takes 4.26 times as many reports"
    )


def test_errors_of_numbers_are_in_the_unit_of_the_range(manifest: Path) -> None:
    document = json.loads(run(manifest, "--format", "json", "--error", 0.05).stdout)

    seconds = document["metrics"][2]
    laplace = next(each for each in seconds["candidates"] if each["mechanism"] == "laplace")
    mechanism = registry.build(Manifest.from_toml(MANIFEST)["seconds"])
    assert laplace["parameters"] == {"steps": 16}
    assert laplace["error"] == pytest.approx(mechanism.stderr(10_000))
    assert seconds["error_at_half_the_epsilon"] > 1.5


def test_json_holds_every_candidate_and_repeats_to_the_byte(manifest: Path) -> None:
    first, second = (run(manifest, "--format", "json").stdout for _ in range(2))

    word = json.loads(first)["metrics"][1]
    assert first == second
    assert word["mechanism"] == "optimized_unary"
    assert word["choice"] == {"mechanism": "randomized_response", "parameters": {}}
    assert {each["mechanism"] for each in word["candidates"]} >= {"randomized_response", "optimized_unary"}


def test_the_mechanism_in_use_is_marked_beside_the_best(manifest: Path) -> None:
    word = run(manifest).stdout.split("\n\n")[1]

    assert {
        line.split()[1]: line.split()[0] for line in word.splitlines() if line[:4] in ("best", "now ")
    } == {
        "randomized_response": "best",
        "optimized_unary": "now",
    }


def test_writing_resolves_what_is_open_and_nothing_that_is_published(manifest: Path) -> None:
    result = run(manifest, "--write")

    assert result.exit_code == 0
    assert manifest.read_text() == MANIFEST.replace('"best"', '"randomized_response"')
    assert 'metric "dark" is asked by randomized_response from now on' in result.stderr


def test_line_ends_survive(manifest: Path) -> None:
    manifest.write_bytes(MANIFEST.replace("\n", "\r\n").encode())

    run(manifest, "--write")

    assert (
        manifest.read_bytes()
        == MANIFEST.replace('"best"', '"randomized_response"').replace("\n", "\r\n").encode()
    )


def test_writing_twice_changes_nothing_more(manifest: Path) -> None:
    run(manifest, "--write")
    once = manifest.read_text()

    result = run(manifest, "--write")

    assert manifest.read_text() == once
    assert "nothing to write" in result.stderr


def test_what_is_written_is_what_a_device_and_a_collector_take(manifest: Path) -> None:
    manifest.write_text(
        MANIFEST.replace('"optimized_unary"', '"best"').replace('"laplace"\nparameters.steps = 16', '"best"')
    )

    run(manifest, "--write")

    metrics = Manifest.from_toml(manifest.read_text()).metrics
    assert [registry.build(metric).kind for metric in metrics] == [metric.mechanism for metric in metrics]


def test_a_question_that_nothing_can_answer_within_the_limits_ends_with_1(manifest: Path) -> None:
    result = run(manifest, "--cells", 1, "--write")

    assert result.exit_code == 1
    assert "dark (boolean, epsilon 1): no mechanism can be chosen" in result.stdout
    assert manifest.read_text() == MANIFEST


def test_a_manifest_that_cannot_be_read_ends_with_1(manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace('"1.0"', "1.0"))

    result = run(manifest)

    assert result.exit_code == 1
    assert f"{manifest}, line 7" in result.stderr


def test_a_manifest_that_only_a_hand_can_change_stays_as_it_is(manifest: Path) -> None:
    text = MANIFEST.replace(
        'epsilon = 2\nmechanism = "optimized_unary"', 'epsilon = 2\nparameters = {}\nmechanism = "best"'
    )
    manifest.write_text(text.replace('"boolean"', '"choice"\noptions = ["a", "b"]'))
    before = manifest.read_text()

    result = run(manifest, "--write")

    assert (result.exit_code, manifest.read_text() == before) == (1, True)
    assert 'write mechanism = "randomized_response"' in result.stderr


MINUTES = """
[metrics.minutes]
kind = "key_value"
keys = ["maps", "mail"]
range = [0, 60]
most = 1
epsilon = 2
mechanism = "best"
"""
GRADIENT = """
[metrics.gradient]
kind = "vector"
size = 3
norm = 10
epsilon = "2"
mechanism = "best"
"""


def test_where_nothing_is_unbiased_the_best_exact_mechanism_is_chosen_and_the_bias_said(
    manifest: Path,
) -> None:
    manifest.write_text(MANIFEST + MINUTES)

    result = run(manifest, "--write")

    assert "minutes (key_value, epsilon 2): key_value_unary: the only one that can be chosen; none is " in (
        result.stdout
    )
    assert (result.exit_code, 'mechanism = "key_value_unary"' in manifest.read_text()) == (0, True)


def test_a_plan_for_a_vector_says_what_to_write_and_takes_it_once_a_delta_is_agreed(manifest: Path) -> None:
    manifest.write_text(MANIFEST + GRADIENT)

    refused = run(manifest, "--write")
    manifest.write_text(MANIFEST + GRADIENT + 'delta = "1e-9"\n')
    agreed = run(manifest, "--write")

    assert refused.exit_code == 1
    assert 'to agree to one, write mechanism = "gaussian" and delta = "1e-9"' in refused.stdout
    assert (agreed.exit_code, Manifest.from_toml(manifest.read_text())["gradient"].mechanism) == (
        0,
        "gaussian",
    )
    assert "a standard error of 1.0 takes" in agreed.stdout  # 5 % of how far two numbers can be apart
    assert "gradient: its sum fails too, with probability 5.2e-08" in agreed.stdout


def test_what_is_said_of_pure_reports_only_is_not_said_of_others() -> None:
    table = {"kind": "vector", "size": 2, "norm": 1, "epsilon": 1, "mechanism": "gaussian", "delta": "1e-9"}

    found = account(metric_of("gradient", table))

    assert (found.basic, found.optimal, found.renyi, found.zcdp) == (52, None, None, None)
    assert found.delta == pytest.approx(52e-9)


def test_the_least_of_several_times_counts() -> None:
    ticks = iter(range(1_000))
    metric = choice("word", options=["a", "b"], epsilon=1)

    found = cost(metric, clock=lambda: float(next(ticks)))

    assert (found.device, found.server * REPORTS, found.answer) == (1, 1, 1)
    assert next(ticks) == 3 * 2 * TIMES


def test_times_are_shown_if_asked(manifest: Path) -> None:
    result = run(manifest, "--time")

    assert result.stdout.splitlines()[1].split()[-3:] == ["device", "server", "answer"]
    assert result.stdout.splitlines()[3].endswith(" us")


def test_a_question_that_one_mechanism_answers_has_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENTRIES", registry.ENTRIES[:1])
    manifest = Manifest(app="notepad", serial=1, metrics=(choice("word", options=["a", "b"], epsilon=1),))

    found = plans(manifest)

    assert found[0].why == "the only one that can be chosen"
    assert "word (choice, epsilon 1): randomized_response" in plan_lines.plan_lines(
        found, reports=1, error=0.1
    )


def test_what_a_year_of_reports_tells_is_added_up_in_every_currency(manifest: Path) -> None:
    document = json.loads(run(manifest, "--format", "json", "--shuffle", 10_000).stdout)

    dark = document["accounts"][0]
    assert (dark["metric"], dark["reports"], dark["basic"]) == ("dark", 52, 52)
    assert dark["optimal"] <= dark["renyi"] <= dark["basic"] < dark["zcdp"]
    assert dark["shuffled"] == pytest.approx(0.0432, abs=1e-4)


def test_an_answer_once_and_a_permanent_answer_cost_what_a_device_reserves() -> None:
    once = account(choice("word", options=["a", "b"], epsilon=2, once=True))
    kept = account(metric_of("word", MEMO | {"changes": 1}))

    assert (once.reports, once.basic) == (1, 2)
    assert (kept.reports, kept.basic, kept.optimal) == (52, 4, None)


def test_shuffling_is_shown_only_if_somebody_does(manifest: Path) -> None:
    assert "shuffled" not in run(manifest).stdout
    assert "1 of 500 shuffled" in run(manifest, "--shuffle", 500).stdout


def planned(tmp_path: Path, table: str) -> str:
    """Return what the command prints about one metric."""
    file = tmp_path / "metrics.toml"
    file.write_text(f'format = 1\napp = "notepad"\nserial = 1\n[metrics.asked]\n{table}\n')
    return CliRunner().invoke(command, ["plan", str(file)]).output


def test_a_mechanism_of_much_shorter_reports_and_nearly_the_least_error_is_named(tmp_path: Path) -> None:
    options = json.dumps([f"page {number}" for number in range(33)])

    told = planned(tmp_path, f'kind = "choice"\noptions = {options}\nepsilon = 1\nmechanism = "best"')

    assert "subset_selection: the least error; projective_geometry has 1.6 % more, in 8 bits" in told


def test_errors_that_are_close_are_told_in_percent(tmp_path: Path) -> None:
    told = planned(tmp_path, 'kind = "number"\nrange = [0, 10]\nepsilon = 1\nmechanism = "best"')

    assert "the least error; hybrid (steps 1024), the next, has 3.3 % more" in told


@pytest.mark.parametrize(
    ("table", "less", "what"),
    [
        (
            'kind = "text"\nlength = 8\nepsilon = 4\nmechanism = "prefix_extension"',
            {"hadamard_sketch", "count_mean_sketch", "bloom_rappor"},
            "no texts that nobody named",
        ),
        (
            'kind = "number"\nrange = [0, 10]\nepsilon = 1\nmechanism = "hierarchical_histogram"',
            {"laplace", "one_bit_mean", "piecewise", "hybrid", "integer_table"},
            "no quantile 0.05 and 20 more",
        ),
        (
            'kind = "record"\nepsilon = 2\nmechanism = "joint_response"\n'
            'attributes = { a = { kind = "boolean" }, b = { kind = "boolean" } }',
            {"sampled_attribute"},
            "no a = no, b = no and 3 more",
        ),
    ],
    ids=["texts", "quantiles", "cells"],
)
def test_what_tells_less_than_the_mechanism_named_is_no_best(
    tmp_path: Path, table: str, less: set[str], what: str
) -> None:
    lines = planned(tmp_path, table).splitlines()

    assert {line.split()[1] for line in lines if line.startswith("less  ")} == less
    assert next(line for line in lines if line.startswith("less than ")).endswith(f": {what}")


def test_reports_are_counted_for_the_mechanism_that_was_named_for_what_it_tells(tmp_path: Path) -> None:
    table = 'kind = "number"\nrange = [0, 10]\nepsilon = 1\nmechanism = "hierarchical_histogram"'

    told = planned(tmp_path, table)

    needed = required_reports(
        registry.make("hierarchical_histogram", 1, low=Decimal(0), high=Decimal(10)), 0.5
    )
    assert "by the error alone, integer_table" in told
    assert f"a standard error of 0.50 takes {needed:,} reports with hierarchical_histogram\n" in told


def test_words_of_a_mechanism_that_fail_alike_are_refused_once(tmp_path: Path) -> None:
    options = json.dumps([f"app {number}" for number in range(600)])
    table = f'kind = "choices"\noptions = {options}\nmost = 2\nepsilon = "0.5"\nmechanism = "best"'

    refusals = [line for line in planned(tmp_path, table).splitlines() if line.startswith("not padded")]

    assert len(refusals) == len(set(refusals)) < 3


def test_half_the_epsilon_of_a_selection_is_not_said_to_cost_nothing(tmp_path: Path) -> None:
    assert "half the epsilon" not in planned(
        tmp_path, 'kind = "selection"\noptions = ["a", "b"]\nepsilon = 1'
    )


def test_a_year_that_a_device_does_not_give_and_a_figure_above_the_sum_are_said(tmp_path: Path) -> None:
    often, seldom = (
        planned(tmp_path, f'kind = "boolean"\nepsilon = 1\nperiod = "{period}"') for period in ("1d", "7d")
    )

    assert "devices give 64 a source in their life by default, then none: asked" in often
    assert "(sum)" not in often
    assert "devices give" not in seldom
    assert "63.91 (sum)\n(sum): more than the ledger's sum, which holds anyway" in seldom
