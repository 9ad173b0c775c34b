"""This file lists faults in what analysts are told: which reports count, what changed, what is handed out."""

from tests.mutants.fault import Fault

COUNTS = "server/test_what_counts.py"
DIFFERENCES = "server/test_differences.py"
VERSIONS = "server/test_versions.py"
EXPORTS = "server/test_exports.py"
GATHERING = "server/hubbub_server/analysis/gathering.py"
SHUFFLING = "server/hubbub_server/exporting/shuffling.py"

ANALYSIS = (
    Fault(
        "labels: one that fits is enough",
        GATHERING,
        (("return all(value in self.wanted", "return not self.wanted or any(value in self.wanted"),),
        COUNTS,
    ),
    Fault(
        "labels: of two values the last counts",
        GATHERING,
        (("wanted.get(name, frozenset()) | {value}", "frozenset({value})"),),
        COUNTS,
    ),
    Fault(
        "changes: luck takes part of itself away",
        "shared/hubbub/combining.py",
        (("(np.abs(weights) @ asked) ** 2", "(weights @ asked) ** 2"),),
        DIFFERENCES,
        "sum_of_theirs",
    ),
    Fault(
        "changes: the wrong way round",
        "shared/hubbub/combining.py",
        (("*(-size for size in before)]", "*before]"),),
        DIFFERENCES,
        "sum_of_theirs",
    ),
    Fault(
        "changes: a period compared with itself",
        "server/hubbub_server/analysis/pairs.py",
        (("range(max(0, span.start - 1), span.stop)", "range(span.start, span.stop)"),),
        DIFFERENCES,
    ),
    Fault(
        "changes: a label that is gone left out",
        "server/hubbub_server/analysis/pairs.py",
        (("if key not in found}", "if found and key in found}"),),
        DIFFERENCES,
    ),
    Fault(
        "versions: whatever silence stands for",
        "server/hubbub_server/analysis/versions.py",
        (("old.absent != new.absent", "False"),),
        VERSIONS,
    ),
    Fault(
        "versions: advice that the rest of the question rules out",
        "server/hubbub_server/analysis/versions.py",
        ((" and _passes(check, fitting)", ""),),
        VERSIONS,
        "advise",
    ),
    Fault(
        "versions: advice to ask different things together",
        "server/hubbub_server/analysis/versions.py",
        (("for each in every if not _difference(asked[0], each)]", "for each in every]"),),
        VERSIONS,
        "advise",
    ),
    Fault(
        "spans: a label's fault laid on the span",
        "server/hubbub_server/analysis/elsewhere.py",
        (("if is_inside)", "if False)"),),
        "server/test_estimates.py",
        "told_of",
    ),
    Fault(
        "versions: whatever a selection is drawn by",
        "server/hubbub_server/analysis/versions.py",
        (("is_selection and _noise(old) != _noise(new)", "False"),),
        VERSIONS,
    ),
    Fault(
        "versions: sums of other mechanisms added up",
        GATHERING,
        (
            (
                "pile.add((version, period if is_apart else 0), tally)",
                "pile.add((0, period if is_apart else 0), tally)",
            ),
        ),
        VERSIONS,
    ),
    Fault(
        "exports: batches come out whole",
        SHUFFLING,
        (("rows[np.argsort(_random(rows.size))]", "rows"),),
        EXPORTS,
    ),
    Fault(
        "exports: scattered in turn, not by chance",
        SHUFFLING,
        (("_random(reports.size) % np.uint64(parts)", "np.arange(reports.size) % parts"),),
        EXPORTS,
    ),
    Fault(
        "exports: one that fails holds its place for ever",
        "server/hubbub_server/api/reports.py",
        (
            (
                "        except BaseException:\n            places.release()",
                "        except BaseException:\n            pass",
            ),
        ),
        EXPORTS,
    ),
    Fault(
        "exports: one that ends holds its place for ever",
        "server/hubbub_server/api/reports.py",
        (("        response.call_on_close(places.release)\n", ""),),
        EXPORTS,
    ),
    Fault(
        "exports: a formula in a label",
        "server/hubbub_server/exporting/writers.py",
        (("*map(harmless, some.labels.values())", "*some.labels.values()"),),
        EXPORTS,
    ),
    Fault(
        "estimates: a formula behind a semicolon",
        "server/hubbub_server/analysis/formats.py",
        (("(?:^|(?<=;))", "^"),),
        "server/test_cli.py",
        "spreadsheet",
    ),
    Fault(
        "changes: a device that counts in each period is one of many",
        "server/hubbub_server/analysis/advice.py",
        (("periods > 1 and not (remembers or metric.once)", "False"),),
        DIFFERENCES,
        "several_periods",
    ),
    Fault(
        "versions: one report hides the error of all others",
        "shared/hubbub/reach.py",
        (("np.where(np.isnan(errors), most, errors)", "errors"),),
        "shared/test_combining.py",
        "one_report",
    ),
    Fault(
        "doctor: a collector at rest is ill",
        "server/hubbub_server/doctor.py",
        (('key.kind == "ingest" and key.last_used > _iso(latest + _QUIET)', "latest < today - _QUIET"),),
        "server/test_doctor.py",
        "is_to_come",
    ),
    Fault(
        "tags: an answer known already although it changed",
        "server/hubbub_server/api/reply.py",
        (("sha256(response.data)", "sha256(request.path.encode())"),),
        "server/test_tags.py",
    ),
    Fault(
        "analyst: a key follows a redirect",
        "server/hubbub_server/analyst.py",
        (("allow_redirects=False", "allow_redirects=True"),),
        "server/test_analyst.py",
    ),
)
