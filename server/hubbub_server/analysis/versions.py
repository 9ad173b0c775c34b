"""This file finds the versions of a metric that may be answered together: one question, asked in many ways.

Versions may differ in the noise and in how reports are kept apart: epsilon, mechanism, period, labels. They
may not differ in what is asked, of what fact, and in what silence stands for.
"""

from collections.abc import Callable, Iterable, Sequence

from hubbub.combining import places_of_means
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub_server.analysis.spans import EVER
from hubbub_server.catalog import Catalog, Question
from hubbub_server.store.protocol import Batches

ALL = "all"


def versions(catalog: Catalog, metric: str, wanted: Sequence[str]) -> tuple[Question, ...]:
    """Return the versions of a metric that are asked for, the newest first; by default the one that is named.

    wanted: "all", or ids.

    Raises RefusedError for an unknown metric, DomainError for versions that do not go together.
    """
    named = catalog.find(metric)
    if not wanted:
        return (named,)
    every = {question.metric.id.hex(): question for question in catalog.versions(named.metric)}
    wanted = [_whole(each, every) for each in wanted]
    unknown = set(wanted) - {ALL, *every}
    if unknown:
        raise DomainError(
            f'"{named.metric.name}" has no version {min(unknown)[:64]!r}; write all, or ids of its versions'
        )
    chosen = tuple(every[each] for each in every if ALL in wanted or each in wanted)
    for older in chosen[1:]:
        _check(chosen[0], older)
    return chosen


def _whole(text: str, ids: Iterable[str]) -> str:
    """Return the only id that begins with a text of 8 digits or more, else the text."""
    found = [each for each in ids if len(text) >= 8 and each.startswith(text)]
    return found[0] if len(found) == 1 else text


def left_out(
    batches: Batches,
    catalog: Catalog,
    asked: Sequence[Question],
    *,
    check: Callable[[Sequence[Question]], object] | None = None,
) -> tuple[str, ...]:
    """Say which older versions of a metric have reports, if none of them is asked for.

    check: raises DomainError for versions of which together the rest can't be asked; None: never can it.
    """
    if len(asked) > 1:
        return ()
    every = catalog.versions(asked[0].metric)
    older = [
        each
        for each in every[every.index(asked[0]) + 1 :]
        if any(True for _ in batches.tallies(each.metric.id, EVER))
    ]
    if not older:
        return ()
    way, fitting = "", [each for each in every if not _difference(asked[0], each)]
    if check and any(each in fitting for each in older) and _passes(check, fitting):
        is_all = len(fitting) == len(every)
        way = f", or have estimate answer {'all' if is_all else 'those that ask the same'} together by "
        way += " ".join(f"--versions {each}" for each in (["all"] if is_all else map(_short, fitting)))
    return (
        f"older versions have reports that are left out here: {', '.join(map(_short, older))}; "
        f"name one in place of the metric{way}",
    )


def _short(question: Question) -> str:
    return question.metric.id.hex()[:8]


def _passes(check: Callable[[Sequence[Question]], object], questions: Sequence[Question]) -> bool:
    try:
        check(questions)
    except DomainError:
        return False
    return True


def _check(newest: Question, older: Question) -> None:
    found = _difference(newest, older)
    if found:
        raise DomainError(
            f'version {older.metric.id.hex()[:12]} of "{newest.metric.name}" does not go together with the '
            f"newest, it differs in {found}; name those that do by their ids"
        )


def _difference(newest: Question, older: Question) -> str | None:
    """Name what keeps two versions from being answered together."""
    new, old = newest.metric, older.metric
    is_selection = new.domain.kind == "selection"  # each epsilon picks by other chances, which are estimated
    differences = {
        "what is asked": old.domain.canonical != new.domain.canonical,
        "source": old.source != new.source,
        "what silence stands for": old.absent != new.absent,
        "the rows that its mechanism tells": _rows(older) != _rows(newest),
        "the epsilon of a selection": is_selection and _noise(old) != _noise(new),
    }
    return next((name for name, differs in differences.items() if differs), None)


def _noise(metric: Metric) -> tuple[object, ...]:
    return metric.epsilon, metric.mechanism, metric.parameters


def _rows(question: Question) -> list[str]:
    rows = question.mechanism.rows
    return [rows[place].name for place in places_of_means(rows)]
