"""This file runs the notebook in a real Jupyter kernel, as its readers do."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.examples.conftest import EXAMPLES, Home

NOTEBOOK = EXAMPLES / "first_steps.ipynb"


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(notebook.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_runs_from_start_to_end_and_estimates_both_facts(home: Home, tmp_path: Path) -> None:
    executed = tmp_path / "executed.ipynb"
    command = [sys.executable, "-m", "jupyter", "execute", str(NOTEBOOK), "--output", str(executed)]
    settings = home.environment(PYTHONWARNINGS="")

    done = subprocess.run(
        command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=300, check=False
    )

    assert done.returncode == 0, done.stderr
    outputs = [output for cell in code_cells(executed) for output in cell["outputs"]]
    printed = "".join(text for output in outputs for text in output.get("text", ()))
    assert [output for output in outputs if output.get("name") == "stderr"] == []
    assert printed.count(", from 40 reports") == 2
    assert printed.count(", 95 % interval ") == 4
    assert not (home.directory / ".local").exists()


def test_the_notebook_is_kept_without_what_it_printed() -> None:
    cells = code_cells(NOTEBOOK)

    assert [(cell["outputs"], cell["execution_count"]) for cell in cells] == [([], None)] * len(cells)
