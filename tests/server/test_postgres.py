"""This file proves what only the store on PostgreSQL has to keep: slots, connections, partitions, order."""

import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
import pytest
from click.testing import CliRunner

from hubbub.errors import BusyError, DatabaseAwayError, RefusedError, StorageError, StorageFullError
from hubbub.tally import Tally
from hubbub_server.commands.cli import command
from hubbub_server.store.opening import open_store
from hubbub_server.store.postgres import batches, compacting, seat
from hubbub_server.store.postgres import database as opening
from hubbub_server.store.postgres.database import Database
from hubbub_server.store.postgres.partitions import partitions
from hubbub_server.store.postgres.schema import MIGRATIONS, migrate
from hubbub_server.store.protocol import Store
from tests.postgres import Server, programs, running_server
from tests.server.changes import ALL, METRIC, add_up, deposit, withdrawal
from tests.server.forks import fork
from tests.server.process import set_up
from tests.server.relay import relay
from tests.server.rows import rows
from tests.server.site import batch, code, site
from tests.server.waiting import wait_until

GUIDE = (Path(__file__).parents[2] / "docs" / "guide-operators.md").read_text("utf-8")
pytestmark = pytest.mark.filterwarnings(  # Python 3.12 warns of what is proven here to work
    "ignore:.*multi-threaded.*fork:DeprecationWarning"
)


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.fresh()


@pytest.fixture
def stores(url: str) -> Iterator[tuple[Store, Store]]:
    """Two stores on one database, as two processes have."""
    both = open_store(url), open_store(url)
    yield both
    for each in both:
        each.close()


def counted(store: Store) -> int:
    return sum(tally.n for _, _, tally in store.batches.tallies(METRIC, ALL))


def by_slot(url: str) -> list[tuple[int, int]]:
    return rows(url, "SELECT slot, n FROM tally ORDER BY slot")  # type: ignore[return-value]


def ended(url: str) -> None:
    """End all other connections to a database, as a restart of the server would."""
    query = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    rows(url, f"{query} WHERE datname = current_database() AND pid <> pg_backend_pid()")


def test_processes_add_to_rows_of_their_own_and_are_counted_while_they_live(
    url: str, stores: tuple[Store, Store]
) -> None:
    for store, ones in zip(stores, (3, 4), strict=True):
        store.batches.commit([deposit(f"of {ones}", ones)])

    def live() -> None:
        with closing(open_store(url)) as third:
            assert third.upkeep.instances() == 3
            os.kill(os.getpid(), signal.SIGKILL)

    _, status = os.waitpid(fork(live), 0)

    assert os.WTERMSIG(status) == signal.SIGKILL
    wait_until(lambda: stores[0].upkeep.instances() == 2)  # once PostgreSQL has seen it
    assert stores[1].upkeep.instances() == 2
    assert by_slot(url) == [(1, 3), (2, 4)]
    assert [counted(store) for store in stores] == [7, 7]


def test_a_tally_goes_below_zero_where_another_process_withdraws(
    url: str, stores: tuple[Store, Store]
) -> None:
    stores[0].batches.commit([deposit("a", 3), deposit("b", 4)])

    stores[1].batches.commit([withdrawal("a")])

    assert by_slot(url) == [(1, 7), (2, -3)]
    assert counted(stores[0]) == 4
    assert list(stores[0].upkeep.check(add_up)) == []


def test_tallies_of_a_process_that_ended_are_taken_over_and_those_of_another_are_not(
    url: str, stores: tuple[Store, Store]
) -> None:
    with closing(open_store(url)) as third:
        for store, ones in zip((*stores, third), (3, 4, 5), strict=True):
            store.batches.commit([deposit(f"of {ones}", ones)])

    stores[0].upkeep.forget(0)

    assert by_slot(url) == [(1, 8), (2, 4)]
    assert list(stores[0].upkeep.check(add_up)) == []


def test_a_slot_that_was_left_is_taken_again(url: str) -> None:
    for name in ("a", "b"):
        with closing(open_store(url)) as store:
            store.batches.commit([deposit(name)])

    assert by_slot(url) == [(1, 2)]


def test_nothing_but_speed_depends_on_a_slot(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat, "_free_slot", lambda _: 1)  # for everybody
    stores = [open_store(url) for _ in range(3)]

    def send(number: int) -> None:
        for each in range(30):
            stores[number].batches.commit([deposit(f"{number} {each}", 2)])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(send, range(3)))

    for store in stores:
        store.close()
    assert by_slot(url) == [(1, 180)]


def test_connections_that_were_lost_between_requests_are_replaced_without_a_word(
    url: str, stores: tuple[Store, Store]
) -> None:
    store = stores[0]
    store.batches.commit([deposit("a")])
    ended(url)

    assert counted(store) == 1
    ended(url)
    assert store.batches.commit([deposit("b")])[0].state == "kept"
    assert store.upkeep.instances() == 1


@pytest.mark.parametrize("losing", [1, 2])
def test_a_batch_whose_commit_lost_its_answer_counts_once(
    tmp_path: Path, postgres: Server, url: str, losing: int
) -> None:
    with relay(tmp_path, postgres.directory) as between:
        behind = url.replace(str(postgres.directory), str(tmp_path))
        with closing(open_store(behind)) as store:
            store.batches.commit([deposit("a", 3)])
            between.losing = losing

            first = _outcome(store)

            again = store.batches.commit([deposit("b", 4, digest=b"2" * 32)])
    with closing(open_store(url)) as store:
        assert counted(store) == 7
    assert between.lost == losing
    assert first == ("kept" if losing == 1 else "StorageError")
    assert again[0].digest == b"d" * 32


@pytest.mark.parametrize(
    ("theirs", "ours"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")]
)
def test_a_commit_waits_for_the_disk_whatever_the_database_is_set_to(
    url: str, theirs: str, ours: str
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET synchronous_commit = {theirs}")
    migrate(database := Database(url))

    with database.committing() as (seated, _), database.reading() as other:
        found = [each.execute("SHOW synchronous_commit").fetchall() for each in (seated, other)]

    database.close()
    assert found == [[(ours,)]] * 2


def test_what_is_read_after_a_lock_is_what_is_there_whatever_the_database_is_set_to(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"ALTER DATABASE {connection.info.dbname} SET default_transaction_isolation = serializable"
        )
    migrate(database := Database(url))

    with database.committing() as (seated, _), database.writing() as other:
        found = [each.execute("SHOW transaction_isolation").fetchall() for each in (seated, other)]

    database.close()
    assert found == [[("read committed",)]] * 2


def test_no_more_sums_are_read_at_once_than_memory_should_hold(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST_AT_ONCE", 17 * 10)  # of 16 bytes each
    with closing(open_store(url)) as store:
        changes = [deposit("a", 3), deposit("b", 4)]
        for change, labels in zip(changes, range(2), strict=True):
            portions = tuple(
                replace(change.portions[0], period=period, labels=bytes([labels])) for period in range(15)
            )
            store.batches.commit([replace(change, portions=portions)])

        reading = store.batches.tallies(METRIC, range(1, 15))
        read = [next(reading) for _ in range(2)]
        store.batches.commit([withdrawal("a")])
        rest = [(period, labels, tally.n) for period, labels, tally in reading]

    assert [(period, labels, tally.n) for period, labels, tally in read] == [(1, b"\0", 3), (1, b"\1", 4)]
    assert rest[:9] == [(2 + each // 2, bytes([each % 2]), 3 + each % 2) for each in range(9)]
    assert rest[9:] == [(period, b"\1", 4) for period in range(6, 15)]


def test_what_failed_is_told_without_a_value(url: str) -> None:
    broken = deposit("a", digest=b"s3ntinel" * 4)
    object.__setattr__(broken, "answer", None)

    with closing(open_store(url)) as store, pytest.raises(StorageError) as told:
        store.batches.commit([broken])

    assert str(told.value) == "PostgreSQL failed: NotNullViolation (23502)"
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__


@pytest.mark.parametrize(
    "url",
    ["postgresql://me:s3cret@127.0.0.1:1/hubbub", "postgresql:///hubbub?host=/no/such&password=s3cret"],
)
def test_a_server_that_is_not_there_is_named_without_its_password(url: str) -> None:
    with pytest.raises(DatabaseAwayError, match="can't reach PostgreSQL at host") as told:
        open_store(url)

    assert "s3cret" not in str(told.value)


@pytest.mark.parametrize("url", ["postgresql://[", "postgresql:///a?s3cret=1"])
def test_a_url_that_is_none_is_an_error(url: str) -> None:
    with pytest.raises(StorageError, match="PostgreSQL failed"):
        open_store(url)


def test_a_text_that_cant_be_kept_is_refused_and_no_fault_of_the_database(url: str) -> None:
    with closing(open_store(url)) as store, pytest.raises(RefusedError) as told:
        store.manifests.latest("a\0")

    assert told.value.code == "bad_query"


def test_a_full_disk_is_told_and_got_over_without_a_restart(url: str) -> None:
    with closing(open_store(url)) as store:
        store.batches.commit([deposit("a")])
        rows(
            url,
            """CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$;
               CREATE TRIGGER no_room BEFORE INSERT ON batch EXECUTE FUNCTION no_room()""",
        )

        with pytest.raises(StorageFullError):
            store.batches.commit([deposit("b")])

        rows(url, "DROP TRIGGER no_room ON batch")
        assert store.batches.commit([deposit("b")])[0].state == "kept"
        assert counted(store) == 2


def test_a_store_that_others_keep_to_themselves_is_busy(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_SETTINGS", opening._SETTINGS.replace("'10s'", "'50ms'"))
    with closing(open_store(url)) as store, psycopg.connect(url) as holder:
        store.batches.commit([deposit("a")])
        holder.execute("SELECT pg_advisory_xact_lock(%s, 0)", (opening.LOCKS,))

        with pytest.raises(BusyError):
            store.batches.commit([deposit("b")])

        with closing(open_store(url)) as other:
            assert counted(other) == 1
        holder.rollback()
        assert store.batches.commit([deposit("b")])[0].state == "kept"


def test_a_server_that_stops_and_starts_again_needs_no_restart_of_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    where = programs()
    assert where
    with running_server(where) as server, closing(open_store(server.fresh())) as store:
        store.batches.commit([deposit("a", 3)])
        server.run("pg_ctl", "-w", "-D", server.directory / "data", "-m", "fast", "stop")
        outcome = _outcome(store)
        with pytest.raises(DatabaseAwayError):
            counted(store)

        server.start()

        assert (outcome, caplog.records) == ("DatabaseAwayError", [])
        assert counted(store) == 3
        assert store.batches.commit([deposit("b", 4)])[0].state == "kept"
        assert store.upkeep.instances() == 1


def test_a_server_that_is_away_is_told_to_devices_and_operators_as_such(tmp_path: Path) -> None:
    where = programs()
    assert where
    with running_server(where) as server, site(tmp_path, database=server.fresh()) as home:
        server.run("pg_ctl", "-w", "-D", server.directory / "data", "-m", "fast", "stop")

        answers = [home.post(batch()), home.client.get("/operations/readyz")]

        server.start()
    assert [code(answer) for answer in answers] == ["storage_failed", "not_ready"]
    assert answers[1].json == answers[1].json | {"detail": "the server of the database can't be reached"}  # type: ignore[operator]


def test_processes_that_start_together_make_the_tables_once(url: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        opened = list(pool.map(open_store, [url] * 6))

    for store in opened:
        store.close()
    assert rows(url, "SELECT number FROM version") == [(len(MIGRATIONS),)]


@pytest.mark.parametrize("done", range(len(MIGRATIONS[0]) + 1))
def test_a_kill_amid_a_migration_leaves_the_version_before(url: str, done: int) -> None:
    killed = (*MIGRATIONS[0][:done], "SELECT pg_terminate_backend(pg_backend_pid())", *MIGRATIONS[0][done:])
    with pytest.raises(StorageError):
        migrate(Database(url), (killed,))
    assert rows(url, "SELECT count(*) FROM pg_namespace WHERE nspname = 'hubbub'") == [(0,)]

    with closing(open_store(url)) as store:
        assert store.batches.commit([deposit("a")])[0].state == "kept"


def test_a_step_between_versions_keeps_what_is_there(url: str) -> None:
    with closing(open_store(url)) as store:
        store.batches.commit([deposit("a")])

    migrate(Database(url), (*MIGRATIONS, ("ALTER TABLE noted ADD COLUMN more integer",)))

    assert rows(url, "SELECT number FROM version") == [(len(MIGRATIONS) + 1,)]
    assert rows(url, "SELECT count(more) FROM noted") == [(0,)]
    assert rows(url, "SELECT count(*) FROM batch") == [(1,)]
    with pytest.raises(StorageError, match="newer"):
        open_store(url)


def test_reports_from_before_they_were_kept_in_two_parts_are_whole(url: str) -> None:
    migrate(Database(url), MIGRATIONS[:1])
    for statement in (
        "CREATE TABLE reports_56 (LIKE reports, PRIMARY KEY (key))",
        "ALTER TABLE reports ATTACH PARTITION reports_56 FOR VALUES FROM (56) TO (84)",
        "INSERT INTO cell VALUES (1, decode(repeat('01', 32), 'hex'), 7, '', 60)",
        "INSERT INTO tally VALUES (1, 1, 3, '\\x00000000000000000300000000000000', 0)",
        "INSERT INTO reports VALUES (1::bigint << 36, 60, '\\x010101')",
        "INSERT INTO batch VALUES (sha256('a'), '', 'kept', 99, '', ARRAY[1::bigint << 36])",
    ):
        rows(url, statement)

    with closing(open_store(url)) as store:
        store.batches.commit([deposit("b", 5000)])

        assert list(store.upkeep.check(add_up)) == []
        assert sorted(reports for *_, reports in store.batches.reports(METRIC, ALL)) == [
            b"\1" * 3,
            b"\1" * 5000,
        ]
        assert store.batches.commit([withdrawal("a")])[0].state == "withdrawn"
        assert counted(store) == 5000
    storage = "SELECT DISTINCT attstorage::text FROM pg_attribute WHERE attname = 'rest'"
    assert rows(url, storage) == [("m",)]


def test_the_first_batch_leaves_no_error_in_the_log_of_the_server(url: str, postgres: Server) -> None:
    log = postgres.directory / "log"
    before = len(log.read_text())

    with closing(open_store(url)) as store:
        store.batches.commit([deposit("a", 3)])

    assert "no partition" not in log.read_text()[before:]


def test_reports_go_with_their_partition_and_a_late_one_gets_a_new_partition(url: str) -> None:
    parts = "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid"
    tables = f"{parts} WHERE inhparent = 'reports'::regclass"
    with closing(open_store(url)) as store:
        store.batches.commit([deposit("a", 3)])
        before = rows(url, tables)

        assert store.upkeep.expire(84, add_up)

        assert (before, rows(url, tables)) == ([("reports_56",)], [])
        assert not store.upkeep.expire(84, add_up)
        assert store.batches.commit([withdrawal("a")])[0].state == "folded"
        store.batches.commit([deposit("late")])
        assert rows(url, tables) == before
        assert counted(store) == 4
        assert list(store.upkeep.check(add_up)) == []


def test_after_compacting_neither_place_nor_transaction_tells_when_a_batch_came(url: str) -> None:
    batches = 1000
    with closing(open_store(url)) as store:
        for number in range(batches):
            store.batches.commit([deposit(str(number), 1 + number)])  # whose length tells when it came
        before = [_order(url, by) for by in ("ctid", "xmin::text::bigint")]

        store.upkeep.compact()

        after = _order(url, "ctid")
        transactions = rows(
            url,
            """SELECT (SELECT count(DISTINCT xmin::text) FROM reports),
                      (SELECT count(DISTINCT xmin::text) FROM batch)""",
        )
    assert before == [list(range(1, batches + 1))] * 2
    assert sorted(after) == before[0]
    assert abs(float(np.corrcoef(before[0], after)[0, 1])) < 6 / batches**0.5  # false alarm: 2e-9
    assert transactions == [(1, 1)]


def test_compacting_goes_on_where_a_partition_was_dropped_meanwhile(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = iter([{"reports_0": range(28), "reports_56": range(56, 84)}])
    monkeypatch.setattr(compacting, "partitions", lambda each: next(listed, None) or partitions(each))
    with closing(open_store(url)) as store:
        store.batches.commit([deposit("a"), deposit("b")])

        store.upkeep.compact()

    assert rows(url, "SELECT count(DISTINCT xmin::text) FROM batch") == [(1,)]
    assert rows(url, "SELECT count(DISTINCT xmin::text) FROM reports") == [(1,)]


def test_a_reader_as_of_one_moment_is_not_robbed_by_compacting_or_deleting(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_SETTINGS", opening._SETTINGS.replace("'10s'", "'50ms'"))
    with closing(open_store(url)) as store:
        store.batches.commit([deposit("a", 3)])
        database: Database = store.batches._database  # type: ignore[attr-defined]
        with database.moment() as connection:
            for step in (store.upkeep.compact, lambda: store.upkeep.expire(84, add_up)):
                with pytest.raises(BusyError):
                    step()  # type: ignore[operator]

            assert connection.execute("SELECT count(*) FROM reports").fetchall() == [(1,)]


def test_a_backup_is_left_to_pg_dump_and_what_that_wrote_is_whole(
    tmp_path: Path, postgres: Server, url: str
) -> None:
    dump, copy, where = tmp_path / "dump", postgres.fresh(), programs()
    assert where
    with closing(open_store(url)) as store:
        store.batches.commit([deposit("a", 3), deposit("b", 4)])
        with pytest.raises(StorageError) as told:
            store.upkeep.backup(dump)

        line = str(told.value).partition(": ")[2].replace("URL", f"'{url}'")
        paths = {"PATH": f"{where}:{os.environ['PATH']}"}
        subprocess.run(["sh", "-c", line], check=True, env=paths, umask=0o022)
    assert stat.S_IMODE(dump.stat().st_mode) == 0o600
    assert line.replace(f"'{url}'", "URL").replace(str(dump), "FILE") in GUIDE
    subprocess.run([where / "pg_restore", "--no-owner", f"--dbname={copy}", dump], check=True)

    with closing(open_store(copy)) as store:
        assert list(store.batches.tallies(METRIC, ALL)) == [(7, b"", Tally(7, np.array([0, 7])))]
        assert list(store.upkeep.check(add_up)) == []
        assert store.batches.commit([deposit("a")])[0].answer == deposit("a").answer
        assert store.batches.commit([deposit("c")])[0].state == "kept"


_LENGTHS = "SELECT octet_length(bytes || rest) FROM reports ORDER BY {}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("keys", "list"), (0, "ingest")),
        (("check",), (0, "every tally is the sum of its reports")),
        (("compact",), (0, "bytes became")),
        (("doctor",), (0, "an unknown number free")),
        (("backup", "copy"), (1, "pg_dump")),
        (("restore", "hubbub.toml"), (1, "pg_restore")),
    ],
)
def test_every_command_does_its_work_or_says_what_does(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, words: list[str], expected: tuple[int, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    set_up(tmp_path, database=url)

    done = CliRunner().invoke(command, words, env={"HUBBUB_SERVER_DATABASE": url})

    assert done.exit_code == expected[0]
    assert expected[1] in done.output


def test_init_says_by_what_its_database_is_set_and_writes_no_password_down(tmp_path: Path, url: str) -> None:
    words = ["init", "--dir", str(tmp_path)]

    done = CliRunner().invoke(command, words, env={"HUBBUB_SERVER_DATABASE": url})
    forgotten = CliRunner().invoke(command, ["keys", "list", "--config", str(tmp_path / "hubbub.toml")])

    assert "HUBBUB_SERVER_DATABASE" in done.output.partition("hb_ingest_")[0]
    assert url not in (tmp_path / "hubbub.toml").read_text()
    assert forgotten.exit_code == 2
    assert "sets no database, nor does HUBBUB_SERVER_DATABASE" in forgotten.output
    assert "init" not in forgotten.output.partition("as it was for init")[2]


@pytest.mark.parametrize(
    "words", [("check",), ("doctor",), ("serve", "--port", "0"), ("keys", "add", "ingest")]
)
def test_a_database_with_nothing_of_hubbub_is_left_as_it_is(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    done = CliRunner().invoke(command, words, env={"HUBBUB_SERVER_DATABASE": url})

    assert done.exit_code == 2
    assert "nothing of hubbub is in the PostgreSQL database" in done.output
    assert rows(url, "SELECT FROM pg_namespace WHERE nspname = 'hubbub'") == []


def test_a_collector_on_postgres_that_nobody_has_a_key_for_does_not_start(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_store(url).close()

    done = CliRunner().invoke(command, ["serve", "--port", "0"], env={"HUBBUB_SERVER_DATABASE": url})

    assert done.exit_code == 2
    assert "make some first: hubbub-server keys add ingest" in done.output


def _outcome(store: Store) -> str:
    """Return what becomes of a batch: its state, or the error."""
    try:
        return store.batches.commit([deposit("b", 4)])[0].state
    except StorageError as error:
        return type(error).__name__


def _order(url: str, by: str) -> list[int]:
    return [length for (length,) in rows(url, _LENGTHS.format(by))]
