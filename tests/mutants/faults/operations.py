"""This file lists faults in what operators set, watch and limit, and in who is let in."""

from tests.mutants.fault import Fault

SERVER = "server/hubbub_server/"
KEYS, LIMITS, STATS = "server/test_keys.py", "server/test_limits.py", "server/test_stats.py"
HEADERS, READY, LOGS = "server/test_headers.py", "server/test_readiness.py", "server/test_logs.py"
CONFIG, PRESENCE, DOCTOR = "server/test_config.py", "server/test_presence.py", "server/test_doctor.py"

OPERATIONS = (
    Fault(
        "keys: an expired key opens everything",
        SERVER + "store/records.py",
        (
            (
                "return not self.revoked and (not self.expires or today < self.expires)",
                "return not self.revoked",
            ),
        ),
        KEYS,
        "rotated",
    ),
    Fault(
        "keys: a key ends a day late",
        SERVER + "store/records.py",
        (("today < self.expires", "today <= self.expires"),),
        KEYS,
        "rotated",
    ),
    Fault(
        "keys: a day of use is noted for whoever knows the number",
        SERVER + "keys.py",
        (("        is_right = hmac", "        stored and self._note(stored, now)\n        is_right = hmac"),),
        KEYS,
        "only_the_number",
    ),
    Fault(
        "keys: a second rotation moves the day that was told",
        SERVER + "store/keys.py",
        (("revoked = '' AND expires = ''\"", "revoked = ''\""),),
        KEYS,
        "successor or who_rotate",
    ),
    Fault(
        "keys: what a lookup says outlives a revocation that came meanwhile",
        SERVER + "keys.py",
        (("if forgotten != self._forgotten:", "if False:"),),
        KEYS,
        "looked_up",
    ),
    Fault(
        "keys: a slow lookup is believed from its end on",
        SERVER + "keys.py",
        (("(asked + FRESH, usable)", "(time.monotonic() + FRESH, usable)"),),
        KEYS,
        "slow_database",
    ),
    Fault(
        "memory: what was bound stays",
        SERVER + "store/sqlite/database.py",
        (("len(value) > MOST_HELD", "len(value) > 2**60"),),
        "server/test_store.py",
        "leaves_the_memory",
    ),
    Fault(
        "keys: trouble with a day of use is met with every request",
        SERVER + "keys.py",
        (("(today, time.monotonic() + NOTED_AGAIN)", "(today, 0.0)"),),
        KEYS,
        "cant_be_noted",
    ),
    Fault(
        "limits: each process takes the whole",
        SERVER + "receiving/limits.py",
        (("min(counts.processes, limit.amount)", "1"),),
        LIMITS,
        "share",
    ),
    Fault(
        "limits: a batch counts as one report",
        SERVER + "collector.py",
        (("self.limits.reports(key, sent)", "self.limits.reports(key, 1)"),),
        LIMITS,
        "reports_beyond",
    ),
    Fault(
        "limits: what is refused uses up the day",
        SERVER + "receiving/limits.py",
        (
            ("if self.limiter.test(limit, key, cost=cost):", "if self.limiter.hit(limit, key, cost=cost):"),
            ("            self.limiter.hit(limit, key, cost=cost)\n", ""),
        ),
        LIMITS,
        "reports_beyond",
    ),
    Fault(
        "presence: who asks disturbs who comes",
        SERVER + "store/sqlite/presence.py",
        (("    if not keep:\n        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)\n", ""),),
        PRESENCE,
        "come_end",
    ),
    Fault(
        "stats: a batch sent again counts twice",
        SERVER + "receiving/intake.py",
        (("if record.answer is deposit.answer:", "if record.answer:"),),
        STATS,
        "what_became",
    ),
    Fault(
        "stats: paths instead of routes",
        SERVER + "app.py",
        (('asked.url_rule.rule if asked.url_rule else "none"', "asked.path"),),
        STATS,
        "no_figure or by_code",
    ),
    Fault(
        "stats: any method makes a figure",
        SERVER + "app.py",
        (('asked.method if asked.method in METHODS else "other"', "asked.method"),),
        STATS,
        "by_code",
    ),
    Fault(
        "stats: a change that failed waits for ever",
        SERVER + "stats.py",
        (("                del self._waiting[thread]\n", ""),),
        STATS,
        "fails_waits",
    ),
    Fault(
        "readiness: nothing is written",
        SERVER + "readiness.py",
        (("            self._upkeep.probe()\n", ""),),
        READY,
        "makes_it_write or takes_no_write",
    ),
    Fault(
        "readiness: asked once for ever",
        SERVER + "readiness.py",
        (("> FRESH", "> 1e9"),),
        READY,
        "makes_it_write or takes_no_write",
    ),
    Fault(
        "readiness: trouble is told with every look",
        SERVER + "readiness.py",
        (("if fault and fault != self._fault:", "if fault:"),),
        READY,
        "moved_away",
    ),
    Fault(
        "restore: keys that are in use again are not told",
        SERVER + "store/sqlite/undone.py",
        (("elif now and now.is_in_use(today) and not was.is_in_use(today):", "elif False:"),),
        "server/test_care.py",
        "undoes",
    ),
    Fault(
        "doctor: nothing has come for months, and all is well",
        SERVER + "doctor.py",
        (("elif latest < today - _QUIET and", "elif False and"),),
        DOCTOR,
        "nothing_reaches",
    ),
    Fault(
        "doctor: raw reports that should be gone are well",
        SERVER + "doctor.py",
        (("oldest < today - keep - _LATE", "oldest < 0"),),
        DOCTOR,
        "should_be_gone",
    ),
    Fault(
        "doctor: the first fault is the last",
        SERVER + "doctor.py",
        (
            (
                "        yield Remark(about, str(error), needs_care=True)\n",
                "        yield Remark(about, str(error), needs_care=True)\n        raise\n",
            ),
        ),
        DOCTOR,
        "no_other",
    ),
    Fault(
        "commands: tables are made in any database",
        SERVER + "commands/opened.py",
        (("if not is_set_up(config.database):", "if False:"),),
        "server/test_postgres.py",
        "nothing_of_hubbub",
    ),
    Fault(
        "headers: every origin is let in",
        SERVER + "headers.py",
        (("            if origin not in origins:\n                return response\n", ""),),
        HEADERS,
        "another_origin",
    ),
    Fault(
        "headers: pages may use every route",
        SERVER + "headers.py",
        (("if rule is None or rule.rule not in OPEN:", "if rule is None:"),),
        HEADERS,
        "not_for_devices",
    ),
    Fault(
        "headers: an answer may be kept by anybody",
        SERVER + "headers.py",
        (('UNKEPT = ("Cache-Control", "no-store")', 'UNKEPT = ("Cache-Control", "max-age=60")'),),
        HEADERS,
        "kept_by_nobody",
    ),
    Fault(
        "logs: an error in its own words",
        SERVER + "logs.py",
        (
            (
                'return record.getMessage() if record.name == NAME else "a library warns"',
                "return record.getMessage()",
            ),
        ),
        LOGS,
        "library",
    ),
    Fault(
        "problems: a fault in its own words",
        SERVER + "problems.py",
        (("fault = str(error) if isinstance(error, StorageError) else trail(error)", "fault = repr(error)"),),
        LOGS,
        "type_and_place",
    ),
    Fault(
        "config: raw reports may go while a batch of theirs may be withdrawn",
        SERVER + "config.py",
        (("max(LENGTHS) + 2 * GRACE // DAY", "max(LENGTHS) + GRACE // DAY"),),
        CONFIG,
        "withdrawn",
    ),
    Fault(
        "config: a variable and its file, one of them silently",
        SERVER + "config.py",
        (("        if plain in texts:\n", "        if False:\n"),),
        CONFIG,
        "wrong_setting",
    ),
)
