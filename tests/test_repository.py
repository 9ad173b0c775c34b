"""This file holds the repository itself to its rules: what may be tracked, and how a source file looks."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TRACKED = [
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")[:-1]
    if (ROOT / name).is_file()
]
SOURCES = [
    path
    for path in TRACKED
    if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in {"client", "lab", "server", "shared"}
]
# Split so that this file does not name what it forbids.
HOSTS = ["pypi" + ".org", "pythonhosted" + ".org", "deb" + ".debian.org", "npmjs" + ".org"]
MACHINE_PATH = re.compile(r"(?<![\w./])/(?:root|work|home|Users)/\w|[Ff]ind-links|index-url\s*=?\s*http")
MAKE_COMMAND = re.compile(r"(?:^|`|&& )make ([a-z][a-z-]*)", re.MULTILINE)


def shown(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def hands_out_names(node: ast.stmt) -> bool:
    """Tell docstrings, imports and lists of names from definitions; ``__getattr__`` is an import put off."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())) | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=[]):
            return all(map(hands_out_names, body))
        case ast.Assign(value=ast.List() | ast.Dict()) | ast.FunctionDef(name="__getattr__"):
            return True
        case _:
            return False


def test_no_tracked_file_names_a_package_registry() -> None:
    pattern = re.compile("|".join(re.escape(host) for host in HOSTS))

    offenders = [path for path in TRACKED if pattern.search(text(path))]

    assert shown(offenders) == []


def test_no_tracked_file_names_a_path_of_one_machine() -> None:
    others = [path for path in TRACKED if path != Path(__file__)]

    offenders = [path for path in others if MACHINE_PATH.search(text(path))]

    assert shown(offenders) == []


def test_every_source_file_begins_by_saying_what_it_is() -> None:
    opening = re.compile(r'"""\w+ \w+ \w+')

    silent = [path for path in SOURCES if not opening.match(text(path))]

    assert shown(silent) == []


def test_no_source_file_is_longer_than_250_lines() -> None:
    long = [path for path in SOURCES if len(text(path).splitlines()) > 250]

    assert shown(long) == []


def test_an_init_file_hands_out_names_and_defines_nothing() -> None:
    inits = [path for path in SOURCES if path.name == "__init__.py"]

    busy = [path for path in inits if not all(map(hands_out_names, ast.parse(text(path)).body))]

    assert shown(busy) == []


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", text(ROOT / "Makefile"), re.MULTILINE))
    pages = [path for path in TRACKED if path.suffix == ".md"]

    named = {(target, path.name) for path in pages for target in MAKE_COMMAND.findall(text(path))}

    assert {(target, page) for target, page in named if target not in targets} == set()


def test_the_newest_entry_of_the_changelog_is_the_version_that_is_built() -> None:
    newest = re.search(r"^## (\S+)", text(ROOT / "CHANGELOG.md"), re.MULTILINE)

    assert newest is not None
    assert newest[1] == PROJECT["version"]


def test_the_oldest_python_is_the_same_wherever_it_is_claimed() -> None:
    listed = [name for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", name)]
    installer = re.search(r"version_info < \(3, (\d+)\)", text(ROOT / ".ci" / "install"))

    assert installer is not None
    assert PROJECT["requires-python"] == f">=3.{installer[1]}"
    assert listed[0].endswith(f"3.{installer[1]}")
