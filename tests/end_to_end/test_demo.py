"""This file runs the demo, small."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_small_demo_ends_well_and_prints_every_interval() -> None:
    command = [sys.executable, "-m", "examples.demo", "--devices", "8", "--people", "800"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert sum(" to " in line for line in lines if line.endswith(("yes", "no"))) == 12
    assert sum("in the collector's database" in line for line in lines) == 3
    assert sum("nothing more is sent or charged" in line for line in lines) == 3
    assert "reports" in next(line for line in lines if line.startswith("metric")).split()
    assert [line for line in (*lines, *done.stderr.splitlines()) if line != line.rstrip()] == []
