"""This file sees to whom the files of a SQLite database belong, and who may read them."""

import os
import stat
from pathlib import Path

_SIDES = ("-wal", "-shm", "-servers")


def troubles(database: Path) -> list[str]:
    """Return what keeps a collector from its files, or lets others at them, each with the way out.

    They should belong to whoever the directory belongs to, which is the user of the collector.
    """
    if os.name != "posix":
        return []
    found = list[str]()
    mode = stat.S_IMODE(database.stat().st_mode)
    if mode & 0o077:
        found.append(f"others may read it (mode {mode:04o}); chmod 600 {database}")
    owner = database.parent.stat().st_uid or database.stat().st_uid  # of root's own directory it says nothing
    files = [path for path in (database, *(Path(f"{database}{side}") for side in _SIDES)) if path.exists()]
    found += [
        f"{path} belongs to {_name(path.stat().st_uid)}, and the collector is {_name(owner)}'s: "
        f"chown {_name(owner)} {path}"
        for path in files
        if path.stat().st_uid != owner
    ]
    if os.geteuid() not in (0, owner):
        found.append(
            f"this is {_name(os.geteuid())}, and the collector is {_name(owner)}'s: "
            f"give every command as that user, by sudo -u {_name(owner)}"
        )
    return found


def _name(user: int) -> str:
    import pwd  # noqa: PLC0415 - which not every system has

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
