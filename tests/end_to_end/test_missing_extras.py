"""This file starts each command where only some parts are installed, and reads what it says."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVER_PARTS = ["flask", "limits", "prometheus_client", "sqlite_utils", "waitress", "werkzeug"]
START = """
import runpy, sys
sys.modules |= dict.fromkeys({blocked!r})  # None there is Python's own way to say: not installed
sys.argv = [{name!r}, *{arguments!r}]
runpy.run_module({module!r}, run_name="__main__")
"""


def start(module: str, *arguments: str, without: list[str]) -> subprocess.CompletedProcess[str]:
    code = START.format(blocked=without, name=module, module=module, arguments=arguments or ("--help",))
    return subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)


@pytest.mark.parametrize("part", SERVER_PARTS)
def test_the_collector_without_a_part_says_what_to_install(part: str) -> None:
    result = start("hubbub_server", without=[part])

    said = "hubbub-server needs its server parts: pip install '.[server]' in a clone of hubbub\n"
    assert (result.returncode, result.stderr) == (3, said)


def test_another_missing_module_is_not_hidden() -> None:
    result = start("hubbub_server", without=["csv"])

    assert result.returncode == 1
    assert "csv" in result.stderr


def test_a_start_of_the_collector_imports_nothing_that_only_some_of_its_work_needs() -> None:
    code = "import sys, hubbub_server.commands.cli; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert not {"cryptography", "pandas", "psycopg", "pyarrow", "requests", "sqlite_utils"} & set(
        loaded.split()
    )


@pytest.mark.parametrize("part", ["psycopg", "psycopg_pool"])
def test_a_database_on_postgresql_needs_parts_of_its_own(tmp_path: Path, part: str) -> None:
    settings = tmp_path / "hubbub.toml"
    settings.write_text('database = "postgresql:///hubbub"\n')

    result = start("hubbub_server", "doctor", "--config", str(settings), without=[part])

    needed = "a PostgreSQL database needs its postgres parts: pip install '.[postgres]' in a clone of hubbub"
    said = f"hubbub-server: {needed}\n"
    assert (result.returncode, result.stderr) == (3, said)


@pytest.mark.parametrize("module", ["hubbub_client", "hubbub_lab"])
def test_a_base_install_starts_the_commands_that_need_no_extra(module: str) -> None:
    result = start(module, without=SERVER_PARTS)

    assert result.stderr == ""
    assert result.returncode == 0


@pytest.mark.parametrize(
    "entry", ["client/hubbub_client", "lab/hubbub_lab", "server/hubbub_server"], ids=lambda path: path[7:]
)
def test_an_entry_module_imports_the_standard_library_only(entry: str) -> None:
    module = ast.parse((ROOT / entry / "__main__.py").read_text())
    imports = [alias.name for node in module.body if isinstance(node, ast.Import) for alias in node.names]
    origins = [str(node.module) for node in module.body if isinstance(node, ast.ImportFrom)]

    foreign = {name.partition(".")[0] for name in imports + origins} - sys.stdlib_module_names

    assert foreign == set()
