"""This file is the command ``python -m benchmarks.soak``: does a steady load make a collector grow?"""

import random
import sys
import time
from statistics import linear_regression

import click

from benchmarks.load import drive
from benchmarks.running import Running, running

GROWTH = 1.0  # MiB a minute, at most
DEVICES = 32
SINGLES, GATEWAYS, QUERIES = 300, 2, 8  # of each round


@click.command()
@click.option("--minutes", default=30.0, show_default=True, type=click.FloatRange(min=0.1))
def main(minutes: float) -> None:
    """Load a collector half of the time, and measure how much memory it holds.

    A round has single reports, batches of 10,000 and estimates; the sender then rests as long as it took.
    The growth is the slope of a line through the second half. Exits with 1 if it is above one MiB a minute.
    """
    times, sizes, sent = list[float](), list[float](), 0
    start = shown = time.monotonic()
    with running() as server:
        requests = _round(server)
        while (now := time.monotonic()) < start + minutes * 60:
            rest = now + 2 * drive(server.address, requests, connections=DEVICES).seconds
            sent += len(requests)
            requests = _round(server)
            time.sleep(max(rest - time.monotonic(), 0))
            times.append((now - start) / 60)
            sizes.append(server.resident_mebibytes())
            if now >= shown:
                click.echo(f"{times[-1]:6.1f} min  {sent:9,} requests  {sizes[-1]:7.1f} MiB")
                shown += 60
    half = len(times) // 2
    slope = linear_regression(times[half:], sizes[half:]).slope
    click.echo(f"{slope:+.3f} MiB a minute over the second half, at most {GROWTH:g}")
    sys.exit(1 if slope > GROWTH else 0)


def _round(server: Running) -> list[bytes]:
    requests = [
        *server.singles("/v1/batches", SINGLES),
        *server.gateways("/v1/batches", GATEWAYS, reports=10_000),
        *server.queries("many", QUERIES),
    ]
    random.shuffle(requests)
    return requests


if __name__ == "__main__":
    main()
