"""This file proves that a manifest is rewritten in the words that are meant, and nowhere else."""

import pytest

from hubbub.declaration import boolean, number
from hubbub.errors import ManifestError
from hubbub.manifest import Manifest
from hubbub_lab.rewriting import written

HEAD = 'format = 1\napp = "notepad"\nserial = 1\n'
DARK = boolean("dark", epsilon="1")
SECONDS = number("seconds", low=0, high=10, epsilon="2", mechanism="laplace", parameters={"steps": 16})


@pytest.mark.parametrize(
    "text",
    [
        '[metrics.dark]\nepsilon = 1\nmechanism = "best"\n',
        '[metrics.dark]\n  mechanism="best"\t# why\n\n\n  epsilon=1',
        '[metrics.dark]\nepsilon = \'1\'\n"mechanism" = "best"',
        'metrics.dark.mechanism = "best"\nmetrics.dark.epsilon = 1\n',
        '[metrics]\ndark.epsilon = 1\ndark.mechanism = "best"\n',
        'metrics = {dark = {epsilon = 1, mechanism = "best"}, light = {mechanism = "laplace"}}\n',
        '[metrics.dark]\r\nepsilon = 1\r\n# so far\r\nmechanism = "best"\r\n\r\n',
    ],
)
def test_one_word_is_replaced_and_every_other_byte_stays(text: str) -> None:
    changed = written(text, {"dark": DARK})

    assert changed == text.replace('"best"', '"randomized_response"')


@pytest.mark.parametrize("like", ['# mechanism = "best"\n', 'why = """\nmechanism = "best"\n"""\n'])
def test_words_in_a_comment_or_a_string_are_no_mechanism(like: str) -> None:
    text = f"[metrics.dark]\nepsilon = 1\n{like}"

    changed = written(text + 'mechanism = "best"\n', {"dark": DARK})

    assert changed == text + 'mechanism = "randomized_response"\n'


def test_single_quotes_are_read_too() -> None:
    changed = written("[metrics.dark]\nepsilon = 1\nmechanism = 'best'\n", {"dark": DARK})

    assert changed == '[metrics.dark]\nepsilon = 1\nmechanism = "randomized_response"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '[metrics.seconds]\n  mechanism = "best"  # so far\n  epsilon = "2"\n',
            '[metrics.seconds]\n  mechanism = "laplace"  # so far\n'
            '  parameters = { steps = 16 }\n  epsilon = "2"\n',
        ),
        (
            '[metrics.seconds]\r\nepsilon = 2\r\nmechanism = "best"\r\n',
            '[metrics.seconds]\r\nepsilon = 2\r\nmechanism = "laplace"\r\nparameters = { steps = 16 }\r\n',
        ),
        (
            '[metrics.seconds]\nepsilon = "2.0"\nmechanism = "best"',
            '[metrics.seconds]\nepsilon = "2.0"\nmechanism = "laplace"\nparameters = { steps = 16 }',
        ),
        (
            'metrics.seconds.epsilon = 2\nmetrics.seconds.mechanism = "best"\n',
            'metrics.seconds.epsilon = 2\nmetrics.seconds.mechanism = "laplace"\n'
            "metrics.seconds.parameters = { steps = 16 }\n",
        ),
        (
            'metrics = {seconds = {mechanism = "best", epsilon = 2}}\n',
            'metrics = {seconds = {mechanism = "laplace", parameters = { steps = 16 }, epsilon = 2}}\n',
        ),
    ],
)
def test_parameters_come_beside_the_mechanism(before: str, after: str) -> None:
    text = written(before, {"seconds": SECONDS})

    assert text == after


@pytest.mark.parametrize("old", ['"2.5"', "'2.5'", "3"])
def test_a_smaller_epsilon_takes_the_place_of_the_one_asked(old: str) -> None:
    text = f'[metrics.dark]\nepsilon = 1\n[metrics.seconds]\nepsilon = {old} # much\nmechanism = "best"\n'

    changed = written(text, {"seconds": SECONDS})

    assert changed.splitlines()[3:] == [
        'epsilon = "2" # much',
        'mechanism = "laplace"',
        "parameters = { steps = 16 }",
    ]


def test_each_of_several_metrics_gets_its_own() -> None:
    text = HEAD + "".join(
        f'[metrics.{name}]\nkind = "boolean"\nepsilon = 1\nmechanism = "best"\n'
        for name in ("one", "dark", "two")
    )

    changed = written(text, {"dark": DARK})

    manifest = Manifest.from_toml(changed)
    assert manifest.unresolved == ("one", "two")
    assert manifest["dark"].mechanism == "randomized_response"


@pytest.mark.parametrize(
    "more",
    ["parameters = { steps = 4 }\n", "parameters.steps = 4\n", "[metrics.seconds.parameters]\nsteps = 4\n"],
)
def test_what_needs_a_hand_is_refused_with_what_to_write(more: str) -> None:
    text = f'[metrics.seconds]\nepsilon = "2"\nmechanism = "best"\n{more}'

    with pytest.raises(
        ManifestError, match=r"line 3: .* write mechanism = \"laplace\", parameters = { steps = 16 }"
    ):
        written(text, {"seconds": SECONDS})
