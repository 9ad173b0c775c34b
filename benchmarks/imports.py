"""This file measures what an app pays at start-up: our import against the quickest peer's."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.goals import Contest, Goal, NotMeasuredError
from benchmarks.pairs import duration
from benchmarks.rivals import INTERPRETER, Rivals

OURS = "from hubbub_client import Client"
THEIRS = {  # as their own documentation begins
    "multi_freq": "from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client",
    "pure_ldp": "from pure_ldp.frequency_oracles.direct_encoding import DEClient",
    "opendp": "import opendp.prelude as dp",
    "diffprivlib": "from diffprivlib.mechanisms import Geometric",
}
TIMED = """
import time
start = time.perf_counter()
{}
print(time.perf_counter() - start)
"""


@contextmanager
def _imports(_: Rivals) -> Iterator[Contest]:
    times, notes = {}, []
    for peer, statement in THEIRS.items():
        try:
            times[peer] = min(_seconds(INTERPRETER, statement) for _ in range(3))
            notes.append(f"{peer} {duration(times[peer])}")
        except (OSError, subprocess.CalledProcessError):
            notes.append(f"not measured: {peer}: {statement!r} fails")
    if not times:
        raise NotMeasuredError("; ".join(notes))
    quickest = min(times, key=times.__getitem__)
    ours = partial(_seconds, Path(sys.executable), OURS)
    yield Contest(ours, partial(_seconds, INTERPRETER, THEIRS[quickest]), quickest, notes)


def _seconds(interpreter: Path, statement: str) -> float:
    command = [str(interpreter), "-P", "-c", TIMED.format(statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def goals() -> list[Goal]:
    """Return the goals of this file."""
    return [Goal("import of the client", "at most", 0.25, _imports)]
