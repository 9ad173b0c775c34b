"""This file lists faults in a device's rules, files, silence, consent and letters."""

from tests.mutants.fault import Fault

CLIENT = "client/hubbub_client"
ANSWER, REPETITION = f"{CLIENT}/answering/answer.py", f"{CLIENT}/answering/repetition.py"
SILENCE, ABSENCE = f"{CLIENT}/answering/silence.py", f"{CLIENT}/answering/absence.py"
LEDGER, CHAIN = f"{CLIENT}/storage/ledger.py", f"{CLIENT}/storage/chain.py"
PROVENANCE, RESET = f"{CLIENT}/storage/provenance.py", f"{CLIENT}/storage/reset.py"
TRANSACTION, HOLDING = f"{CLIENT}/storage/transaction.py", f"{CLIENT}/holding.py"

DEVICES = (
    Fault(
        "device: a source is told apart by its metric's name",
        REPETITION,
        (('"source": metric.source', '"source": metric.name'),),
        "client/test_record.py",
        "once",
    ),
    Fault(
        "device: periods are compared by their numbers",
        REPETITION,
        (
            (
                "metric = :metric AND ends > :starts AND starts < :ends",
                "metric = :metric AND starts = :starts",
            ),
        ),
        "client/test_record.py",
        "shorter_period",
    ),
    Fault(
        "device: the clock runs backwards",
        LEDGER,
        (("return max(int(max(now, -1.0)), row[0] if row else 0)", "return int(max(now, -1.0))"),),
        "client/test_ledger.py",
        "set_back",
    ),
    Fault(
        "device: the window begins a second late",
        LEDGER,
        (
            (
                """"since": now - WINDOW * DAY}\n        ).fetchone()""",
                """"since": now - WINDOW * DAY + 1}\n        ).fetchone()""",
            ),
        ),
        "client/test_ledger.py",
        "second_earlier",
    ),
    Fault(
        "device: no cap for life",
        LEDGER,
        (
            (
                'Cap("for this device for life", limits.life, life,',
                'Cap("for this device for life", limits.life, 0,',
            ),
        ),
        "client/test_threats.py",
        "never_ends",
    ),
    Fault(
        "device: what is missing is charged to no source",
        LEDGER,
        (
            ("FILTER (WHERE source IN (:source, '')), 0)", "FILTER (WHERE source = :source), 0)"),
            ("FILTER (WHERE source IN (:source, '') AND", "FILTER (WHERE source = :source AND"),
        ),
        "client/test_provenance.py",
        "every_source",
    ),
    Fault(
        "device: what the marker knows of is forgotten",
        PROVENANCE,
        (("    if missing.cost or missing.delta or not", "    if missing.delta or not"),),
        "client/test_provenance.py",
        "every_source",
    ),
    Fault(
        "device: a restored one goes on at once",
        PROVENANCE,
        (("now >= at + WINDOW * DAY and", "now >= at and"),),
        "client/test_provenance.py",
        "silent_for_a_window",
    ),
    Fault(
        "device: a copy is not noticed",
        PROVENANCE,
        (('return "copied" if mark.file and file and mark.file != file else ""', 'return ""'),),
        "client/test_provenance.py",
        "copy",
    ),
    Fault(
        "device: the price is not in the chain",
        CHAIN,
        (("words = json.dumps([*plain, note]).encode()", "words = json.dumps([*plain[:6], note]).encode()"),),
        "client/test_storage.py",
        "change_a_charge",
    ),
    Fault(
        "device: a transaction waits to be immediate",
        TRANSACTION,
        (('connection.execute("BEGIN IMMEDIATE")', 'connection.execute("BEGIN")'),),
        "client/test_processes.py",
        "one_budget",
    ),
    Fault(
        "device: a reset forgets what was spent",
        RESET,
        (
            ("cost=max(cost, 0)", "cost=0"),
            ("provenance.charge_missing(new, mark, now, is_certain=is_certain)", "pass"),
        ),
        "client/test_reset.py",
        "has_spent_what_it_had",
    ),
    Fault(
        "device: a reset needs no waiting",
        RESET,
        (('chain.append(new, Row(at=now, note="reset"))', "pass"),),
        "client/test_reset.py",
        "has_spent_what_it_had",
    ),
    Fault(
        "device: silence is told though consent had ended",
        SILENCE,
        (('        if found.get("") != known.get(""):\n            absence.forget(connection)\n', ""),),
        "client/test_absence.py",
        "found_off",
    ),
    Fault(
        "device: silence is told of time that nobody saw",
        ABSENCE,
        (
            (
                "[(one.id, period_at(now, one.metric.period)) for one in absents]",
                "[(one.id, period_at(now, one.metric.period) - 1) for one in absents]",
            ),
        ),
        "client/test_absence.py",
    ),
    Fault(
        "device: a metric with an absent value expires within its period",
        ANSWER,
        (("moment = now if metric.absent is None else ends - 1", "moment = now"),),
        "client/test_absence.py",
        "expires",
    ),
    Fault(
        "device: any consent is consent to all",
        f"{CLIENT}/consent.py",
        (
            (
                "return self.since.get(metric, self.overall)",
                'return "given" if self.is_given else self.overall',
            ),
        ),
        "client/test_consent.py",
    ),
    Fault(
        "device: what waits leaves without consent",
        f"{CLIENT}/sending/outbox.py",
        (("return not KINDS[status].needs_consent or agrees(metric)", "return True"),),
        "client/test_consent.py",
    ),
    Fault(
        "device: a value leaves before its silence could",
        f"{CLIENT}/sending/delivery.py",
        (("        if has_absent:\n", "        if has_absent and chance < 0:\n"),),
        "client/test_delivery.py",
        "silence",
    ),
    Fault(
        "device: a redirect counts as an answer",
        f"{CLIENT}/sending/delivery.py",
        (("and 400 <= answer.status < 500 and", "and 300 <= answer.status < 500 and"),),
        "client/test_delivery.py",
        "final",
    ),
    Fault(
        "device: whatever answers ends a report",
        f"{CLIENT}/sending/delivery.py",
        (("if code in FINAL[final] and ", "if "),),
        "client/test_delivery.py",
        "final or path",
    ),
    Fault(
        "device: not to know yet counts as a refusal",
        f"{CLIENT}/consent.py",
        (('if state == "refused" or self.consents.are_known(metric)', "if True"),),
        "client/test_absence.py",
        "not_knowing or not_to_know",
    ),
    Fault(
        "device: no leave is asked once a connection stands",
        f"{CLIENT}/sending/http.py",
        (("                permit()\n", ""),),
        "end_to_end/test_device_tls.py",
        "slow_handshake",
    ),
    Fault(
        "device: what was withdrawn leaves once consent is given again",
        f"{CLIENT}/sending/courier.py",
        (("return letter is None or outbox.is_in_line(connection, letter)", "return True"),),
        "client/test_withdraw.py",
        "leased_never_leaves",
    ),
    Fault(
        "device: who agrees to one metric again after a withdrawal agrees to all",
        f"{CLIENT}/consent.py",
        (('or "" in later or', "or later or"),),
        "client/test_withdraw.py",
        "agrees_to_one_metric",
    ),
    Fault(
        "device: of two words about consent at once one is lost",
        f"{CLIENT}/newest.py",
        (("if last.later.setdefault(_NEXT, made) is made:", "if last.later.update({_NEXT: made}) is None:"),),
        "client/test_consent_at_once.py",
        "two_changes",
    ),
    Fault(
        "device: who agrees while a later withdrawal is heard is taken to have agreed after it",
        f"{CLIENT}/consent.py",
        (("if self.withdrawal != before and", "if self.withdrawal == () and"),),
        "client/test_consent_at_once.py",
        "is_held_to",
    ),
    Fault(
        "device: each read of an answer has the whole timeout",
        f"{CLIENT}/sending/http.py",
        (("        self._line.settimeout(self._left())\n", ""),),
        "end_to_end/test_device_over_http.py",
        "trickles",
    ),
    Fault(
        "device: reports are packed as well as they can be",
        f"{CLIENT}/sending/envelope.py",
        (("zlib.compress(batch, 0,", "zlib.compress(batch, 9,"),),
        "client/test_linking.py",
        "wide",
    ),
    Fault(
        "device: the ninth signed manifest displaces the first",
        f"{CLIENT}/kept_manifests.py",
        (("documents=(*needed, document))", "documents=(*needed, document)[-8:])"),),
        "client/test_remote_manifest.py",
        "number_of_later",
    ),
    Fault(
        "device: a handler that raises comes between a lock and its release",
        HOLDING,
        (("        if True in taken:", "        if is_held_here(lock):"),),
        "client/test_holding.py",
        "any_place",
    ),
    Fault(
        "device: a lock is taken in one call and noted in the next",
        HOLDING,
        (
            (
                "taken.extend(map(lock.acquire, (True,), (seconds,)))",
                "taken.append(lock.acquire(True, seconds))",
            ),
        ),
        "client/test_holding.py",
        "any_place",
    ),
    Fault(
        "device: an exit closes the files before what is in line was recorded",
        f"{CLIENT}/storage/device.py",
        (("        close.atexit = False  # a thread may still be at work then\n", ""),),
        "client/test_async.py",
        "closes_no_file",
    ),
    Fault(
        "device: a handler that raises while a fork waits keeps the import gate",
        HOLDING,
        (("    while held and is_held_here(held[-1]):", "    while held and held[1:]:"),),
        "client/test_holding.py",
        "fork",
    ),
    Fault(
        "device: an exit waits for each client",
        f"{CLIENT}/last_moment.py",
        (("return max(0.0, _began[0] + LAST_WAIT - time.monotonic())", "return LAST_WAIT"),),
        "client/test_outages.py",
        "all_clients_together",
    ),
    Fault(
        "device: what ends a record keeps the frames that it ended",
        f"{CLIENT}/interruption.py",
        (("    return error.with_traceback(None)\n", "    return error\n"),),
        "client/test_interruptions.py",
        "handler_raises",
    ),
    Fault(
        "device: what ends a record in a worker lets its caller wait",
        f"{CLIENT}/asynchronous.py",
        (("    except BaseException as error:  # or else", "    except Exception as error:  # or else"),),
        "client/test_interruptions.py",
        "ended_for_the_app",
    ),
    Fault(
        "device: consent is not taken while the clock fails",
        f"{CLIENT}/consent.py",
        (("        except StorageError:\n", "        except ZeroDivisionError:\n"),),
        "client/test_interruptions.py",
        "decision",
    ),
    Fault(
        "device: what a strict client raises holds the value",
        f"{CLIENT}/client.py",
        (("            del name, value, labels  # so", "            pass  # so"),),
        "client/test_leaks.py",
        "strict_client_raises",
    ),
)
