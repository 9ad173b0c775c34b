"""This file proves that questions for texts go all the way: simulated, audited, sent and answered."""

from pathlib import Path

import pytest

from hubbub import registry
from hubbub.manifest import Manifest
from hubbub_client.outcome import Recorded, Skipped
from hubbub_client.testing import WsgiTransport, for_testing
from hubbub_lab.audit import audit, audited_metrics
from hubbub_lab.population import everybody
from hubbub_lab.simulation import COMMON, simulate
from hubbub_server.publication import publish
from tests.server.site import NOW, site

KINDS = [entry.kind for entry in registry.ENTRIES if "text" in entry.domains]


def words(mechanism: str, **parameters: int) -> Manifest:
    given = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    return Manifest.from_toml(f"""
format = 1
app = "words"
serial = 1

[metrics.word]
kind = "text"
length = 4
epsilon = "4"
mechanism = "{mechanism}"
parameters = {{{given}}}
absent = ""
""")


@pytest.mark.parametrize("mechanism", KINDS)
def test_common_words_of_a_made_up_crowd_are_told(mechanism: str) -> None:
    (result,) = simulate(words(mechanism), 50_000)

    off = [each.standard_errors for each in result.comparisons]
    assert len(off) >= COMMON
    assert max(abs(error) for error in off if error is not None) < 6  # false alarms: under once in 10**7
    assert result.comparisons[0].truth == max(each.truth or 0 for each in result.comparisons)


@pytest.mark.parametrize("mechanism", KINDS)
def test_a_device_s_word_arrives_and_is_counted(mechanism: str, tmp_path: Path) -> None:
    manifest = words(mechanism)
    with site(tmp_path) as collector:
        publish(collector.collector.store.manifests, manifest)
        transport = WsgiTransport(collector.client.application)
        device = for_testing(manifest, transport=transport, key=collector.keys["ingest"], clock=lambda: NOW)

        refused, recorded = device.record("word", "too long"), device.record("word", "tab")
        device.flush()

        (group,) = collector.estimate("word", candidate="tab").json["groups"]  # type: ignore[index]
    assert isinstance(refused, Skipped)
    assert refused.code == "value"
    assert isinstance(recorded, Recorded)
    assert group["answer"]["n"] == 1
    assert group["answer"]["rows"][0]["name"] == "tab"


def test_the_words_of_a_given_population_are_asked_for() -> None:
    (result,) = simulate(words("count_mean_sketch"), population={"word": ["tab", "tab", "zoom"] * 100})

    assert result.truth == {"tab": pytest.approx(2 / 3), "zoom": pytest.approx(1 / 3)}


def test_every_claim_about_texts_is_proven_by_going_through_all_reports() -> None:
    found = [
        audit(registry.build(metric), people=everybody(metric, registry.build(metric)), domain=domain)
        for domain, metric in audited_metrics(epsilons=("1",))
        if metric.domain.kind == "text"
    ]

    assert [each.faults for each in found] == [()] * 2 * len(KINDS)
    assert {each.kind for each in found if each.listed} == set(KINDS)
