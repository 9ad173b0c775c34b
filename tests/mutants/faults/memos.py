"""This file lists faults in the permanent answers that a device keeps, and in its accounts over a life."""

from tests.mutants.fault import Fault

MEMO = "client/hubbub_client/storage/memo.py"
LEDGER = "client/hubbub_client/storage/ledger.py"
MEMO_TESTS, LIFE_TESTS = "client/test_memo.py", "client/test_long_life.py"

MEMOS = (
    Fault(
        "memo: drawn anew for each report",
        "client/hubbub_client/answering/question.py",
        (
            (
                "recall(value, coins), coins)",
                "mechanism.memoize((memory.recall(value, coins), np.array([value]))[1], coins), coins)",
            ),
        ),
        MEMO_TESTS,
        "average or repeats or outlives",
    ),
    Fault(
        "memo: changes not counted",
        MEMO,
        (("if state not in kept and len(kept) < self.most:", "if state not in kept:"),),
        MEMO_TESTS,
        "state_is_answered or keyed",
    ),
    Fault(
        "memo: only the first state paid for",
        MEMO,
        (("self.mechanism.reservation(self.metric.changes) if", "self.mechanism.reservation(0) if"),),
        MEMO_TESTS,
        "charged_for_all",
    ),
    Fault(
        "memo: every answer paid for",
        MEMO,
        ((" if self.is_empty else 0", ""),),
        MEMO_TESTS,
        "charged_for_all or spent_for_life",
    ),
    Fault(
        "memo: drawn when a state is met, though all may have one",
        MEMO,
        (("if self.most < self.mechanism.states:", "if self.most > 1:"),),
        MEMO_TESTS,
        "every_state",
    ),
    Fault(
        "memo: those of other states drawn for one value",
        MEMO,
        (("memoize(values[holders], coins", "memoize(values[holders] * 0, coins"),),
        MEMO_TESTS,
        "one_law",
    ),
    Fault(
        "memo: under a hash without a key",
        MEMO,
        (
            (
                "hmac.digest(secret, self.id + number, hashlib.sha256)",
                "hashlib.sha256(self.id + number).digest()",
            ),
        ),
        MEMO_TESTS,
        "keyed",
    ),
    Fault(
        "memo: the first one answers after the last change",
        MEMO,
        (("latest = next(reversed(kept.values()))", "latest = next(iter(kept.values()))"),),
        MEMO_TESTS,
        "state_is_answered",
    ),
    Fault(
        "life: half a change kept after a fault",
        "client/hubbub_client/storage/transaction.py",
        (
            (
                "(sqlite3.Error):\n            connection.rollback()",
                "(sqlite3.Error):\n            connection.commit()",
            ),
        ),
        LIFE_TESTS,
    ),
    Fault(
        "life: a window of 27 days",
        LEDGER,
        (('{"source": source, "since": now - WINDOW * DAY}', '{"source": source, "since": now - 27 * DAY}'),),
        LIFE_TESTS,
    ),
    Fault(
        "life: a clock that may go back",
        LEDGER,
        (("max(int(max(now, -1.0)), row[0] if row else 0)", "int(max(now, -1.0))"),),
        LIFE_TESTS,
    ),
    Fault(
        "life: what is over all not capped for a source",
        LEDGER,
        (("        *overall,\n", ""),),
        LIFE_TESTS,
    ),
    Fault(
        "combining: errors of memos cancel in a difference",
        "shared/hubbub/combining.py",
        (("alike[0] ** 2 + alike[1] ** 2", "(alike[0] + alike[1]) ** 2"),),
        "statistical/test_permanent_answers.py",
        "error_of_a_difference",
    ),
    Fault(
        "combining: errors of memos level out in a sum",
        "shared/hubbub/combining.py",
        (("alike[0] ** 2 + alike[1] ** 2", "weights**2 @ kept"),),
        "statistical/test_permanent_answers.py",
        "error_of_a_sum",
    ),
)
