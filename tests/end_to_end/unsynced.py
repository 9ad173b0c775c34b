"""This file tells what would be on a disk that lost all power, from a trace of what a process asked of it.

strace writes down every write, truncation and sync, and what came and went on sockets. A write counts as safe
at a moment if a sync of its file began after it and had ended by then; everything else may be lost.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

CALLS = "pwrite64,write,ftruncate,fsync,fdatasync,recvfrom,sendto"
STRACE = ("strace", "-D", "-f", "-y", "-xx", "-s", "100000000", "-e", f"trace={CALLS}", "-o")
_CALL = re.compile(r"(\w+)\((\d+)<([^>]*)>(?:,\s*(.*?))?\s*\)\s+= (-?\d+)")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that succeeded. begun, ended: line numbers of the trace. path: of the file or socket."""

    name: str
    descriptor: int
    path: str
    data: bytes
    numbers: tuple[int, ...]
    begun: int
    ended: int


def calls(trace: Path) -> list[Call]:
    """Read a trace, in the order in which calls ended."""
    return list(_calls(trace))


def disk(
    before: dict[Path, bytes], made: list[Call], moment: int, keeps: Callable[[], bool]
) -> dict[Path, bytes]:
    """Return the contents of files after a loss of power.

    before: as the trace began. moment: a line of the trace. keeps: whether a write that is not safe is on the
    disk all the same.
    """
    files = {path: bytearray(content) for path, content in before.items()}
    safe: dict[str, int] = {}  # by path: calls that had ended before this line are on the disk
    for call in made:
        if call.name in {"fsync", "fdatasync"} and call.ended < moment:
            safe[call.path] = max(safe.get(call.path, 0), call.begun)
    for call in made:
        content = files.get(Path(call.path))
        if content is None or call.begun > moment or not (call.ended < safe.get(call.path, 0) or keeps()):
            continue
        if call.name == "ftruncate":
            (length,) = call.numbers
            content[length:] = bytes(max(0, length - len(content)))
        elif call.name == "pwrite64":
            start = call.numbers[1]
            content.extend(bytes(max(0, start - len(content))))
            content[start : start + len(call.data)] = call.data
    return {path: bytes(content) for path, content in files.items()}


def _calls(trace: Path) -> Iterator[Call]:
    begun: dict[str, tuple[int, str]] = {}  # by process: calls that another interrupted in the trace
    with trace.open(encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines):
            process, _, text = line.rstrip("\n").partition(" ")
            text = text.strip()
            if text.endswith("<unfinished ...>"):
                begun[process] = (number, text.removesuffix("<unfinished ...>"))
                continue
            first = number
            if text.startswith("<..."):
                first, start = begun.pop(process)
                text = start.rstrip() + text.partition("resumed>")[2]
            found = _CALL.fullmatch(text)
            if found and int(found[5]) >= 0:
                yield _call(found, first, number)


def _call(found: re.Match[str], begun: int, ended: int) -> Call:
    name, descriptor, path, rest, result = found.groups()
    text = _TEXT.search(rest or "")
    data = _bytes(text[1])[: int(result)] if text else b""
    numbers = tuple(
        int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.])", _TEXT.sub("", rest or ""))
    )
    return Call(
        name, int(descriptor), _bytes(path).decode() if "\\x" in path else path, data, numbers, begun, ended
    )


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))
