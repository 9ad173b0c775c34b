"""This file plants known faults in copies of our source, one each, and sees its tests catch every one.

Words after the command choose the faults that have any of them in their names; without words it is all.

Exit code 1 if a fault is not caught within a minute, or if the tests fail where there is no fault.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.catalogue import FAULTS
from tests.mutants.fault import ROOT, Fault

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


def main(words: list[str]) -> int:
    """Try what words choose, one at a time on each core, and print each outcome."""
    chosen = [fault for fault in FAULTS if not words or any(word in fault.what for word in words)]
    fine = bool(chosen)
    with TemporaryDirectory() as compiled, ThreadPoolExecutor(os.cpu_count()) as pool:
        files: dict[str, dict[str, None]] = {}
        for fault in chosen:
            files.setdefault(fault.tests, {})[fault.only] = None
        outcomes = pool.map(partial(_without_fault, Path(compiled)), files, files.values())
        for outcome in chain(outcomes, pool.map(partial(_try, Path(compiled)), chosen)):
            print(outcome, flush=True)
            fine &= outcome.is_fine
    return int(not fine)


def _without_fault(compiled: Path, tests: str, parts: Iterable[str]) -> Outcome:
    """Run all that must catch a fault in a file of tests where there is none."""
    only = "" if "" in parts else " or ".join(f"({part})" for part in parts)
    code, seconds, test = _run(ROOT / "shared", compiled, tests=tests, only=only, limit=None)
    return Outcome(f"no fault: {tests}", code == 0, "FAILS" if code else "passes", seconds, test)


def _try(compiled: Path, fault: Fault) -> Outcome:
    with TemporaryDirectory() as folder:
        copy = Path(folder) / fault.wing
        shutil.copytree(ROOT / fault.wing, copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = Path(folder) / fault.file
        try:
            file.write_text(fault.plant(file.read_text("utf-8")), "utf-8")
        except ValueError as error:
            return Outcome(fault.what, is_fine=False, verdict="NOT PLANTED", seconds=0, test=str(error))
        code, seconds, test = _run(copy, compiled, tests=fault.tests, only=fault.only, limit=LIMIT)
    verdict = {1: "caught" if test else "BREAKS", 0: "SURVIVED", None: "TOO SLOW"}.get(code, "BREAKS")
    return Outcome(fault.what, verdict == "caught", verdict, seconds, test)


def _run(
    wing: Path, compiled: Path, *, tests: str, only: str, limit: float | None
) -> tuple[int | None, float, str]:
    """Run tests on a copy of a wing; return exit code, seconds and the first test that failed.

    compiled: a folder in which Python keeps what it has compiled, so that the next run need not.
    """
    start = time.monotonic()
    environment = {
        **os.environ,
        "PYTHONPATH": str(wing),
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
    sys.exit(main(sys.argv[1:]))
