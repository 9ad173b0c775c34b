"""This file names the machine that was measured on: a figure without one means nothing."""

import os
import platform
import re
import sqlite3
import subprocess
from pathlib import Path

import numpy as np

from benchmarks.rivals import ROOT


def facts() -> dict[str, str]:
    """Return what the figures depend on, in words."""
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "sqlite": sqlite3.sqlite_version,
        "commit": _commit(),
    }


def slug() -> str:
    """Return a short name of the machine for a file.

    >>> import re
    >>> bool(re.fullmatch("[a-z0-9-]+", slug()))
    True
    """
    words = f"{_processor()} {len(os.sched_getaffinity(0))} cores"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", listing.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
