"""This file runs a program as if some days had passed: ``python later.py DAYS PROGRAM ARGUMENTS``."""

import runpy
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    _, days, program, *arguments = sys.argv
    true_time, ahead = time.time, float(days) * 86_400
    time.time = lambda: true_time() + ahead
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).parent)
    runpy.run_path(program, run_name="__main__")
