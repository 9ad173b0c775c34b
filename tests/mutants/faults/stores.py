"""This file lists faults in what every store promises, and in what only the one on SQLite has to keep."""

from tests.mutants.fault import Fault

SERVER = "server/hubbub_server"
CONTRACT = "server/test_store_contract.py"
CARE = "server/test_care.py"

STORES = (
    Fault(
        "store: ten thousand ids are forgotten a day, and no more",
        f"{SERVER}/housekeeping.py",
        (("while self._upkeep.forget(self._day):", "if self._upkeep.forget(self._day):"),),
        "server/test_housekeeping.py",
        "however_many",
    ),
    Fault(
        "store: what is withdrawn when its reports are gone is said to be withdrawn",
        f"{SERVER}/store/group.py",
        (
            (
                'Record(known.digest, "folded", known.answer)',
                'Record(known.digest, "withdrawn", known.answer)',
            ),
        ),
        "server/test_upkeep.py",
        "can_not_be_withdrawn",
    ),
    Fault(
        "store: a folded batch that is withdrawn stays in the sum",
        f"{SERVER}/store/group.py",
        (("self.rows.add_to_folded(taken.number, gone)", "pass"),),
        "server/test_upkeep.py",
        "folded_batch",
    ),
    Fault(
        "store: a check takes new cells for damage",
        f"{SERVER}/store/sqlite/checking.py",
        (("AND NOT EXISTS (SELECT 1 FROM cell WHERE number = key >> 36)", ""),),
        CONTRACT,
        "comes_meanwhile",
    ),
    Fault(
        "store: an export goes on into the cell that took a number over",
        f"{SERVER}/store/sqlite/batches.py",
        (
            (
                "(?, ?, ?) = (SELECT metric, period, labels FROM cell WHERE number = ?)",
                "coalesce(?, ?, ?, ?) NOT NULL",
            ),
        ),
        CONTRACT,
        "took_the_number",
    ),
    Fault(
        "store: the log of a lost database is read into a backup",
        f"{SERVER}/store/sqlite/restoring.py",
        (
            (
                "for side in reversed(_sides_of(database))",
                "for side in reversed(_sides_of(database) if is_there else [])",
            ),
        ),
        CARE,
        "lost_database",
    ),
    Fault(
        "store: an empty file is put back",
        f"{SERVER}/store/sqlite/restoring.py",
        (("if not size:", "if False:"),),
        CARE,
        "no_whole_backup",
    ),
    Fault(
        "store: a log that went with its last connection is missed",
        f"{SERVER}/store/sqlite/pool.py",
        (("if not self._open:", "if False:"),),
        "server/test_store.py",
        "went_with_its_last",
    ),
)
