"""This file runs the demo: a population is measured without one true value having left a device.

Two routes lead to one collector: 500 people are full devices, each with a ledger file and HTTP delivery of
its own; and all 20,190 go through the same randomizers in a gateway's batches. A public label tells them
apart.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import click

from examples.demo.collector import Collector, running_collector
from examples.demo.devices import open_device, play_all
from examples.demo.gateway import send_all
from examples.demo.one_person import show_one_person
from examples.demo.population import Person, read_population, truth
from examples.demo.results import Result, results_of, show_results
from hubbub.manifest import Manifest

MANIFEST = Path(__file__).parents[1] / "health.toml"
MOST_ERRORS = 6.0  # standard errors; a right estimate is further off once in 500 million


@click.command()
@click.option("--devices", default=500, show_default=True, help="How many people are full devices.")
@click.option("--people", "most", default=20_190, show_default=True, help="How many take part at all.")
def main(devices: int, most: int) -> None:
    """Measure a population without one true value leaving a device.

    Ends with status 1 if an estimate is further from the truth than chance explains.
    """
    people = read_population()[:most]
    manifest = Manifest.from_toml(MANIFEST.read_text(), where=MANIFEST.name)
    device_people = people[:: len(people) // devices][:devices]
    with tempfile.TemporaryDirectory(prefix="hubbub-demo-") as folder:
        home, server = Path(folder) / "devices", Path(folder) / "collector"
        with running_collector(server, MANIFEST) as collector:
            started = time.monotonic()
            _collect(people, device_people, manifest, collector, home=home)
            print(f"\nCollected in {time.monotonic() - started:.0f} s. What the collector can tell:\n")
            results = _results(people, device_people, manifest, collector)
            show_results(results)
            client = open_device(manifest, collector.url, collector.keys["ingest"], folder=home / "0")
            show_one_person(client, device_people[0], manifest, collector.database)
            client.close()
    sys.exit(_verdict(results))


def _collect(
    people: list[Person], device_people: list[Person], manifest: Manifest, collector: Collector, *, home: Path
) -> None:
    url, key = collector.url, collector.keys["ingest"]
    print(f"The RAND Health Insurance Experiment: {len(people):,} person-years, three questions each.")
    print("Every answer gets its noise before it leaves; the collector stores noisy reports only.\n")
    devices = play_all(device_people, manifest, url, key, home=home, processes=os.cpu_count() or 2)
    _progress(devices, len(device_people), f"{len(device_people)} devices, each with its own ledger")
    _progress(
        send_all(people, manifest, url, key, now=time.time()), len(people), "everybody, through a gateway"
    )


def _progress(steps: Iterable[int], total: int, label: str) -> None:
    width = 38 if sys.stderr.isatty() else 0  # in a file there is no bar for it to stand before
    with click.progressbar(length=total, label=f"{label:<{width}}", file=sys.stderr) as bar:
        for step in steps:
            bar.update(step)


def _results(
    people: list[Person], device_people: list[Person], manifest: Manifest, collector: Collector
) -> list[Result]:
    groups = {"device": device_people, "gateway": people}
    return [
        result
        for metric in manifest.metrics
        for route, answer in collector.estimates_by_route(metric.name).items()
        for result in results_of(metric, route, answer, truth(metric, groups[route]))
    ]


def _verdict(results: list[Result]) -> int:
    worst = max(abs(result.errors_off) for result in results)
    print(f"\nThe worst estimate is {worst:.1f} standard errors off.")
    if worst > MOST_ERRORS:
        print(f"That is more than {MOST_ERRORS:.0f}: something is wrong.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    main()
