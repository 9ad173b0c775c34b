"""This file lists faults in the store in PostgreSQL: between collectors, and in what is kept."""

from tests.mutants.fault import Fault

STORE = "server/hubbub_server/store/postgres"
CONTRACT = "server/test_store_contract.py"
OWN, HANGS = "server/test_postgres.py", "server/test_postgres_hangs.py"

POSTGRES = (
    Fault(
        "postgres: a batch that two collectors get counts in both",
        f"{STORE}/rows.py",
        ((".rowcount < len(rows)", ".rowcount < 0"),),
        CONTRACT,
        "two_stores_on_one_database and postgres",
    ),
    Fault(
        "postgres: withdrawals go beside deposits",
        f"{STORE}/batches.py",
        (("alone = any(isinstance(change, Withdrawal) for change in changes)", "alone = False"),),
        CONTRACT,
        "withdraw_the_same and postgres",
    ),
    Fault(
        "postgres: a cell stays without reports",
        f"{STORE}/rows.py",
        (("if self.is_smaller and group.sums", "if False"),),
        CONTRACT,
        "withdrawal_of_all and postgres",
    ),
    Fault(
        "postgres: late reports are kept for good",
        f"{STORE}/rows.py",
        (('if raw == "gone"', 'if raw == "going"'),),
        CONTRACT,
        "late_reports and postgres",
    ),
    Fault(
        "postgres: reports go before they are added up",
        f"{STORE}/upkeep.py",
        (("HAVING sum(unfolded) > 0 LIMIT 1", "HAVING sum(unfolded) > 1000000 LIMIT 1"),),
        "server/test_upkeep.py",
        "raw_reports_go and postgres",
    ),
    Fault(
        "postgres: a commit that lost its answer is not tried again",
        f"{STORE}/batches.py",
        (("if is_lost or self._database.is_seated:", "if not is_lost:"),),
        OWN,
        "lost_its_answer",
    ),
    Fault(
        "postgres: sums are read without a lock",
        f"{STORE}/tallies.py",
        ((" ORDER BY cell FOR UPDATE", ""),),
        OWN,
        "nothing_but_speed",
    ),
    Fault(
        "postgres: a living collector's sums are taken away",
        f"{STORE}/slots.py",
        (("!= [(True,)]", "== []"),),
        OWN,
        "taken_over",
    ),
    Fault(
        "postgres: a reader looks before it locks",
        f"{STORE}/database.py",
        (("LOCK TABLE reports, waiting, folded, tally, cell, batch IN ACCESS SHARE MODE", "SELECT 1"),),
        OWN,
        "one_moment",
    ),
    Fault(
        "postgres: compacting leaves rows in their order",
        f"{STORE}/compacting.py",
        ((" ORDER BY {key}", ""),),
        OWN,
        "after_compacting",
    ),
    Fault(
        "postgres: an error repeats the row",
        f"{STORE}/errors.py",
        (('return f"{type(error).__name__} ({error.sqlstate})"', "return str(error)"),),
        OWN,
        "without_a_value",
    ),
    Fault(
        "postgres: two that start together both make the tables",
        f"{STORE}/schema.py",
        (("with alone(connection)", "with connection.transaction()"),),
        OWN,
        "start_together",
    ),
    Fault(
        "postgres: a connection that was read-only stays so",
        f"{STORE}/database.py",
        (("            connection.close()  # which stays", "            pass  # which stays"),),
        HANGS,
        "read_only",
    ),
    Fault(
        "postgres: a statement that hangs is waited for",
        f"{STORE}/patience.py",
        (("> self.patience", "> 3600"),),
        HANGS,
        "given_up",
    ),
    Fault(
        "postgres: all threads wait for a server that is away",
        "server/hubbub_server/store/watch.py",
        (("self._until = now + LOOK", "pass"),),
        HANGS,
        "at_once",
    ),
)
