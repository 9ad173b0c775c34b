"""This file plants known faults in copies of the protocol, one each, and sees its tests catch every one.

Exit code 1 if a fault is not caught within a minute, or if the tests fail where there is no fault.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.faults import FAULTS, SHARED, Fault

ROOT = Path(__file__).parents[2]
LIMIT = 60  # seconds in which a fault must be caught
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not torture")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the tests said about a fault, or about its absence.

    verdict: also "BREAKS" if no test could run, which proves nothing. test: the first that failed.
    """

    what: str
    is_fine: bool
    verdict: str
    seconds: float
    test: str

    def __str__(self) -> str:
        return f"{self.verdict:<11} {self.seconds:3.0f} s  {self.what:<60} {self.test}".rstrip()


def main() -> int:
    """Try everything, one at a time on each core, and print each outcome."""
    fine = True
    with TemporaryDirectory() as compiled, ThreadPoolExecutor(os.cpu_count()) as pool:
        files = dict.fromkeys(fault.tests for fault in FAULTS)
        outcomes = pool.map(partial(_without_fault, Path(compiled)), files)
        for outcome in chain(outcomes, pool.map(partial(_try, Path(compiled)), FAULTS)):
            print(outcome, flush=True)
            fine &= outcome.is_fine
    return int(not fine)


def _without_fault(compiled: Path, tests: str) -> Outcome:
    """Run all that must catch a fault in a file of tests where there is none."""
    parts = dict.fromkeys(fault.only for fault in FAULTS if fault.tests == tests)
    only = "" if "" in parts else " or ".join(parts)
    code, seconds, test = _run(SHARED, compiled, tests=tests, only=only, limit=None)
    return Outcome(f"no fault: {tests}", code == 0, "FAILS" if code else "passes", seconds, test)


def _try(compiled: Path, fault: Fault) -> Outcome:
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "shared"
        shutil.copytree(SHARED, copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / "hubbub" / fault.file
        try:
            file.write_text(fault.plant(file.read_text("utf-8")), "utf-8")
        except ValueError as error:
            return Outcome(fault.what, is_fine=False, verdict="NOT PLANTED", seconds=0, test=str(error))
        code, seconds, test = _run(copy, compiled, tests=fault.tests, only=fault.only, limit=LIMIT)
    verdict = {1: "caught" if test else "BREAKS", 0: "SURVIVED", None: "TOO SLOW"}.get(code, "BREAKS")
    return Outcome(fault.what, verdict == "caught", verdict, seconds, test)


def _run(
    shared: Path, compiled: Path, *, tests: str, only: str, limit: float | None
) -> tuple[int | None, float, str]:
    """Run tests on a copy of the protocol; return exit code, seconds and the first test that failed.

    compiled: a folder in which Python keeps what it has compiled, so that the next run need not.
    """
    start = time.monotonic()
    environment = {
        **os.environ,
        "PYTHONPATH": str(shared),
        "PYTHONPYCACHEPREFIX": str(compiled),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    command = (*PYTEST, "-k", only, f"tests/{tests}")
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, timeout=limit, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return None, time.monotonic() - start, ""
    failed = re.search(r"^FAILED \S*?([^/:]+::\S+)", done.stdout, re.MULTILINE)
    return done.returncode, time.monotonic() - start, failed[1] if failed else ""


if __name__ == "__main__":
    sys.exit(main())
