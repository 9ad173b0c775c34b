"""This file proves that an operator can check, copy, put back and compact a collector."""

import errno
import hashlib
import os
import shutil
import sqlite3
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub_server.catalog import Catalog
from hubbub_server.commands.opened import opened, settings
from hubbub_server.keys import day_of, number_of, rotate_key
from hubbub_server.store.records import Withdrawal
from tests.server.process import Served
from tests.server.site import MANIFEST
from tests.server.stopped import run, send, send_and_kill, stopped, three


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return stopped(tmp_path / "srv")


def counted(served: Served) -> str:
    return run(served, "estimate", "dark").output.split(" report")[0].rpartition(" ")[2]


def test_a_sound_database_is_called_whole(served: Served) -> None:
    done = run(served, "check")

    assert (done.exit_code, "is whole" in done.output) == (0, True)


def test_damage_ends_a_check_with_1_and_says_where(served: Served) -> None:
    with sqlite3.connect(served.database) as connection:
        connection.execute("UPDATE cell SET n = n + 1")
    connection.close()

    done = run(served, "check")

    assert done.exit_code == 1
    assert "3 reports are kept, the tally counts 4" in done.output


def test_a_backup_goes_back_to_where_it_was(served: Served, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert run(served, "backup", str(copy)).exit_code == 0
    send(served)
    assert counted(served) == "6"

    done = run(served, "restore", str(copy))

    assert done.exit_code == 0, done.output
    assert counted(served) == "3"
    assert stat.S_IMODE(served.database.stat().st_mode) == stat.S_IMODE(copy.stat().st_mode) == 0o600
    send(served)
    assert counted(served) == "6"
    aside = served.database.with_name("hubbub.sqlite3.before-1")
    assert run(served, "restore", str(aside)).exit_code == 0
    assert counted(served) == "6"
    assert sorted(path.name for path in served.directory.glob("*before*")) == [
        "hubbub.sqlite3.before-1",
        "hubbub.sqlite3.before-2",
    ]


def test_a_restore_says_all_that_it_undoes(served: Served, tmp_path: Path) -> None:
    copy, manifest = tmp_path / "copy", tmp_path / "metrics.toml"
    config = settings(served.directory / "hubbub.toml")
    taken_back = three()
    send(served, taken_back)
    old = {kind: served.keys[kind].split("_")[2] for kind in ("ingest", "analyst", "admin")}
    run(served, "backup", str(copy))
    run(served, "keys", "revoke", old["ingest"])
    manifest.write_text(MANIFEST.replace("serial = 1", "serial = 2"))
    run(served, "publish", str(manifest))
    with opened(config) as store:
        rotated, day = rotate_key(store.keys, old["analyst"], days=30, now=time.time())
        ended, _ = rotate_key(store.keys, old["admin"], days=0, now=time.time())
        store.batches.commit(
            [Withdrawal(hashlib.sha256(taken_back.id).digest(), 2**40, Catalog(store.manifests).add_up)]
        )

    done = run(served, "restore", str(copy))

    today = day_of(time.time())
    assert sorted(done.output.splitlines()[1:]) == sorted(
        [
            f"admin key {number_of(ended)} is gone, and whoever has it gets 401: "
            "hubbub-server keys add admin",
            f"admin key {old['admin']} is in use again, and was not since {today}: "
            f"hubbub-server keys revoke {old['admin']}",
            f"analyst key {number_of(rotated)} is gone, and whoever has it gets 401: "
            "hubbub-server keys add analyst",
            f"analyst key {old['analyst']} does not end on {day} any more: "
            f"hubbub-server keys rotate {old['analyst']}",
            f"ingest key {old['ingest']} is in use again, and was not since {today}: "
            f"hubbub-server keys revoke {old['ingest']}",
            "notepad is at serial 1, and was at 2: hubbub-server publish its newer manifest",
            "batches that were withdrawn since and count again: 1",
        ]
    )


def test_a_restore_says_what_reports_it_loses(served: Served, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    send(served)

    lost, nothing = (run(served, "restore", str(copy)) for _ in range(2))

    assert lost.output.splitlines()[1:] == [
        "lost, since no device sends them again: 3 reports that came since"
    ]
    assert nothing.output.splitlines()[1:] == ["nothing that was done since is undone"]


@pytest.mark.parametrize("harm", [b"harmed", b""])
def test_a_restore_over_what_cant_be_read_says_what_may_be_undone(
    served: Served, tmp_path: Path, harm: bytes
) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    served.database.write_bytes(harm * 1000)

    done = run(served, "restore", str(copy))

    assert done.exit_code == 0
    assert "the one before can't be read in full; keys that were revoked since" in done.output


def test_a_backup_is_put_where_there_is_no_database(served: Served, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    served.database.unlink()

    done = run(served, "restore", str(copy))

    assert (done.exit_code, counted(served)) == (0, "3")
    assert "none to compare it with; keys that were revoked since the backup are in use again" in done.output


def test_what_was_put_back_has_the_mode_of_the_one_before(served: Served, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    served.database.chmod(0o640)

    run(served, "restore", str(copy))

    assert stat.S_IMODE(served.database.stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("is_there", [True, False])
def test_what_root_puts_back_belongs_to_the_user_of_the_collector(
    served: Served, tmp_path: Path, is_there: bool
) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    os.chown(served.database, 10001, 10002)
    os.chown(served.directory, 10001, 10002)
    if not is_there:
        served.database.unlink()

    assert run(served, "restore", str(copy)).exit_code == 0

    found = served.database.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (10001, 10002, 0o600)


def test_a_database_in_use_is_not_replaced(served: Served, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    served.start()

    done = run(served, "restore", str(copy))

    assert served.stop() == 0
    assert (done.exit_code, "stop it first" in done.output) == (1, True)
    assert counted(served) == "3"
    assert [path.name for path in served.directory.glob("*restoring*")] == []


@pytest.mark.parametrize("harm", ["UPDATE cell SET n = n + 1", None])
def test_a_damaged_backup_is_not_put_back(served: Served, tmp_path: Path, harm: str | None) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    if harm:
        with sqlite3.connect(copy) as connection:
            connection.execute(harm)
        connection.close()
    else:
        copy.write_bytes(copy.read_bytes()[:5000])

    done = run(served, "restore", str(copy))

    assert done.exit_code == 1
    assert f"{copy} " in done.output
    assert ".restoring" not in done.output
    assert counted(served) == "3"
    assert sorted(path.name for path in served.directory.glob("*.sqlite3*")) == ["hubbub.sqlite3"]


def test_the_log_of_a_lost_database_is_not_read_into_what_was_put_back(
    served: Served, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    send_and_kill(served)
    served.database.unlink()
    log = served.database.with_name("hubbub.sqlite3-wal").stat().st_size

    done = run(served, "restore", str(copy))

    assert log > 0
    assert done.exit_code == 0, done.output
    assert run(served, "check").exit_code == 0
    assert counted(served) == "3"


def test_a_restore_to_a_link_puts_the_backup_where_the_link_leads(served: Served, tmp_path: Path) -> None:
    copy, volume = tmp_path / "copy", tmp_path / "volume"
    volume.mkdir()
    served.database.symlink_to(served.database.rename(volume / "kept.sqlite3"))
    run(served, "backup", str(copy))
    send_and_kill(served)

    done = run(served, "restore", str(copy))

    assert done.exit_code == 0, done.output
    assert served.database.is_symlink()
    assert counted(served) == "3"
    assert sorted(path.name for path in volume.iterdir()) == ["kept.sqlite3", "kept.sqlite3.before-1"]


def test_the_log_of_a_restore_that_was_killed_is_not_read_into_another(
    served: Served, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    send_and_kill(served)
    log, left = (served.database.with_name(f"hubbub.sqlite3{end}-wal") for end in ("", ".restoring"))
    left.write_bytes(log.read_bytes())

    assert run(served, "restore", str(copy)).exit_code == 0

    assert counted(served) == "3"


def test_what_is_no_whole_backup_is_not_put_back(served: Served, tmp_path: Path) -> None:
    empty, copy = tmp_path / "empty", tmp_path / "copy"
    empty.touch()
    run(served, "backup", str(copy))
    copy.with_name("copy-wal").write_bytes(b"what was acknowledged last")

    refused = [run(served, "restore", str(file)) for file in (empty, copy)]

    assert [done.exit_code for done in refused] == [1, 1]
    assert f"{empty} is empty" in refused[0].output
    assert "copy-wal is beside it" in refused[1].output
    assert sorted(path.name for path in served.directory.glob("*.sqlite3*")) == ["hubbub.sqlite3"]


def test_a_restore_that_fails_leaves_nothing_and_one_that_was_killed_is_told(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    copy = tmp_path / "copy"
    run(served, "backup", str(copy))
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfileobj", full)
        failed = run(served, "restore", str(copy))
    left = [path.name for path in served.directory.glob("*restoring*")]
    served.database.with_name("hubbub.sqlite3.restoring").touch()

    again = run(served, "restore", str(copy))

    assert (failed.exit_code, "No space left" in failed.output, left) == (1, True, [])
    assert (again.exit_code, "or was killed; delete it then" in again.output) == (1, True)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 KiB, in memory."""
    where = tmp_path / "tiny"
    where.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", where]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no disk can be mounted: {done.stderr.strip()}")
    yield where
    subprocess.run(["umount", where], check=True)


def test_a_backup_that_finds_no_room_says_so_of_its_own_disk(served: Served, tiny_disk: Path) -> None:
    done = run(served, "backup", str(tiny_disk / "copy"))

    assert done.exit_code == 1
    assert f"there is no room for the backup {tiny_disk / 'copy'}" in done.output
    assert "the disk of the database" not in done.output
    assert list(tiny_disk.iterdir()) == []


def test_compacting_says_what_it_gained(served: Served) -> None:
    done = run(served, "compact")

    assert (done.exit_code, "bytes became" in done.output) == (0, True)
    assert counted(served) == "3"
