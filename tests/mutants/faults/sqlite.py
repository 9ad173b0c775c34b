"""This file lists faults in what becomes of a SQLite file when processes fork, or lose files beside it."""

from tests.mutants.fault import Fault

STORE = "server/hubbub_server/store"
PLACE = "server/test_place.py"
FORKS, READY, UPKEEP = "server/test_forked_collector.py", "server/test_readiness.py", "server/test_upkeep.py"

SQLITE = (
    Fault(
        "sqlite: a fork copies idle connections",
        f"{STORE}/sqlite/pool.py",
        (("FORK_WAIT)\n        self.close()", "FORK_WAIT)"),),
        FORKS,
        "outlives",
    ),
    Fault(
        "sqlite: a fork does not wait for a transaction",
        f"{STORE}/sqlite/pool.py",
        (("        self._turn.wait_for(lambda: not self._lent, FORK_WAIT)\n", ""),),
        FORKS,
        "waits_for",
    ),
    Fault(
        "sqlite: a child goes on with what was lent in its parent",
        f"{STORE}/sqlite/pool.py",
        (("if self._lent or any(self._idle.values()):", "if False:"),),
        FORKS,
        "refuses",
    ),
    Fault(
        "sqlite: a store that was opened keeps a connection for the fork",
        f"{STORE}/opening.py",
        (("    database.close()  #", "    #"),),
        FORKS,
        "just_opened",
    ),
    Fault(
        "sqlite: a batch is acknowledged into a log that was deleted",
        f"{STORE}/sqlite/place.py",
        (("if self._sides and self._sides != self._find_sides():", "if False:"),),
        READY,
        "log_is_gone",
    ),
    Fault(
        "sqlite: a directory that was changed a moment ago is believed to stand",
        f"{STORE}/sqlite/place.py",
        (("> SETTLED", "> -SETTLED"),),
        PLACE,
        "same_tick",
    ),
    Fault(
        "sqlite: a directory is known by the time that copies set",
        f"{STORE}/sqlite/place.py",
        (("max(times)", "times[0]"), ("*_identity(found), *times", "*_identity(found), times[0]")),
        PLACE,
        "long_stood_still",
    ),
    Fault(
        "sqlite: the log of a link is looked for beside the link",
        f"{STORE}/sqlite/place.py",
        (("self._real = os.path.realpath(path)", "self._real = str(path)"),),
        PLACE,
        "long_stood_still",
    ),
    Fault(
        "sqlite: a backup has its name before it is whole",
        f"{STORE}/sqlite/upkeep.py",
        (("            part = Path(name)", "            part = Path(name).rename(path)"),),
        UPKEEP,
        "killed",
    ),
)
