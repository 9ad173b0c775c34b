"""This file writes tables anew in the order of their keys, within one transaction each.

PostgreSQL keeps rows where there was room when they came, and each under the number of its transaction. Its
own CLUSTER sorts the rows and leaves those numbers, which tell the order of arrival as well; so every row is
inserted again, and all have one number.
"""

from psycopg import sql

from hubbub_server.store.postgres.database import Database
from hubbub_server.store.postgres.partitions import partitions

_KEYS = {
    "batch": "id_hash",
    "cell": "number",
    "tally": "cell, slot",
    "waiting": "key",
    "folded": "cell",
}
_LOCK = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE")
_STEPS = (
    sql.SQL("CREATE UNLOGGED TABLE written_anew AS SELECT * FROM {table}"),
    sql.SQL("TRUNCATE {table}"),
    sql.SQL("INSERT INTO {table} SELECT * FROM written_anew ORDER BY {key}"),
    sql.SQL("DROP TABLE written_anew"),
    sql.SQL("ANALYZE {table}"),
)


def compact(database: Database) -> None:
    """Write every table anew; others may read and write between two of them.

    Raises BusyError while others use one for long, StorageFullError without room for two more copies of it.
    """
    with database.reading() as connection:
        keys = dict.fromkeys(partitions(connection), "key") | _KEYS
    for name, key in keys.items():
        table = sql.Identifier(name)
        with database.alone() as connection:
            if name not in partitions(connection) | _KEYS:
                continue  # it was dropped meanwhile
            connection.execute(_LOCK.format(table))
            for step in _STEPS:
                connection.execute(step.format(table=table, key=sql.SQL(key)))
