"""This file lists faults in how the collector reads what reaches it, and in how it describes itself."""

from tests.mutants.fault import Fault

BODY = "server/hubbub_server/receiving/body.py"
PARSING = "server/hubbub_server/parsing.py"
FRAMING = "end_to_end/test_collector_framing.py"
OPENAPI = "server/test_openapi.py"

INTERFACE = (
    Fault(
        "bodies: limited after they are inflated",
        BODY,
        (("            if size > largest:", "            if False:"),),
        "server/test_body.py",
    ),
    Fault(
        "bodies: inflated in one step",
        BODY,
        (("_STEP = 2**16", "_STEP = 2**30"),),
        "server/test_body.py",
    ),
    Fault(
        "bodies: of whatever type",
        BODY,
        (("    if request.mimetype not in types:", "    if False:"),),
        "server/test_body.py",
        "another_type",
    ),
    Fault(
        "bodies: room that is never given back",
        "server/hubbub_server/receiving/room.py",
        (("self._free += taken", "self._free += 0"),),
        "server/test_room.py",
    ),
    Fault(
        "bodies: room that never ends",
        "server/hubbub_server/receiving/room.py",
        (("if more > self._free:", "if more > self._free + 2**40:"),),
        "server/test_room.py",
    ),
    Fault(
        "JSON: lists built whatever their length",
        "shared/hubbub/batch_json.py",
        (("> _MOST_COMMAS", "> 2**40"),),
        "shared/test_batch_json.py",
    ),
    Fault(
        "HTTP: lines between chunks without end",
        PARSING,
        (("> LONGEST_LINE:", "> 2**40:"),),
        FRAMING,
        "never_ends or never",
    ),
    Fault(
        "HTTP: an end told in two ways",
        PARSING,
        ((' or "CONTENT_LENGTH" in self.headers', ""),),
        FRAMING,
        "two_ways or length",
    ),
    Fault(
        "HTTP: what is refused is answered while it comes",
        PARSING,
        (("            self.completed = self._unheard <= 0", "            self.completed = True"),),
        "server/test_parsing.py",
        "heard_out",
    ),
    Fault(
        "HTTP: every connection holds what it likes outside the room",
        "server/hubbub_server/receiving/room.py",
        (("more = size - self._small - taken", "more = size - SMALL - taken"),),
        "server/test_parsing.py",
        "outside_the_room",
    ),
    Fault(
        "queries: an empty text is none",
        "server/hubbub_server/api/queries.py",
        (('if any(asked.get(name) == [""] for name in once):', "if False:"),),
        "server/test_hostile.py",
        "question",
    ),
    Fault(
        "description: a route that anybody may ask",
        "server/hubbub_server/api/table.py",
        (('every metric.",\n        READERS', 'every metric.",\n        ANYBODY'),),
        OPENAPI,
    ),
    Fault(
        "description: a key of a manifest left out",
        "server/hubbub_server/api/metric_table.py",
        (("    norm: Plain | UnsetType = UNSET\n", ""),),
        OPENAPI,
    ),
)
