"""This file lists faults in what is said about fake reports: how far they reach, and which are noticed."""

from tests.mutants.fault import Fault

REACH = "statistical/test_reach.py"
LAWS = "statistical/test_laws.py"
ATTACKS = "statistical/test_attacks.py"

FAKES = (
    Fault(
        "reach: a fake counts like a person",
        "shared/hubbub/frequencies.py",
        (("(least - size * q) / (p - q), (most - size * q) / (p - q)", "least - size * q, most - size * q"),),
        REACH,
        "stated_whatever and optimized_unary",
    ),
    Fault(
        "reach: a part as large as the whole",
        "shared/hubbub/parts.py",
        (
            (
                "return Reach.joined(list(parts))",
                "return replace(Reach.joined(list(parts)), reports=np.full(len(self.rows), self.n))",
            ),
            ("from dataclasses import dataclass", "from dataclasses import dataclass, replace"),
        ),
        REACH,
        "stated_whatever and sampled_option",
    ),
    Fault(
        "reach: a sum moves by no more than the range",
        "shared/hubbub/reach.py",
        (("np.array([least, min(least, 0.0)])", "np.array([least, least])"),),
        REACH,
        "far_from_0",
    ),
    Fault(
        "reach: a fake in one of two periods weighs half",
        "shared/hubbub/reach.py",
        (("own[:, None] * (high - low) / told", "own[:, None] * (high - low) / told / 2"),),
        REACH,
        "several_estimates",
    ),
    Fault(
        "laws: nobody holds what is supported",
        "shared/hubbub/laws.py",
        (("chances = float(channel.q), float(channel.p)", "chances = float(channel.q), float(channel.q)"),),
        LAWS,
        "on_average and local_hashing",
    ),
    Fault(
        "laws: one chance taken for all that are looked at",
        "shared/hubbub/laws.py",
        (("+ math.log(law.tails * len(laws))", "+ 0 * math.log(law.tails * len(laws))"),),
        ATTACKS,
        "rare_as_stated and optimized_unary",
    ),
    Fault(
        "laws: the law of a person who holds nothing",
        "shared/hubbub/bit_laws.py",
        (("for own in (p, p if held is None else held)", "for own in (q, q if held is None else held)"),),
        LAWS,
        "on_average and optimized_unary",
    ),
    Fault(
        "laws: pairs as if categories were supported independently",
        "shared/hubbub/pair_laws.py",
        (("(n, counts, columns), (pq - qq) / (p - q)", "(n, counts, columns), q"),),
        LAWS,
        "channels",
    ),
    Fault(
        "tails: a count for all beyond it",
        "shared/hubbub/tails.py",
        (("ratio = misses * p /", "ratio = 0 * misses * p /"),),
        LAWS,
        "binomial",
    ),
    Fault(
        "suspicion: the first combination of labels takes all places",
        "server/hubbub_server/analysis/suspicion.py",
        (("each=max(1, MOST // max(1, cells))", "each=MOST"),),
        "server/test_suspicion.py",
        "labels",
    ),
    Fault(
        "suspicion: half the chance of a finding",
        "server/hubbub_server/analysis/suspicion.py",
        (("_HALVES * math.exp(", "math.exp("),),
        "server/test_suspicion.py",
        "so_odd",
    ),
    Fault(
        "suspicion: nothing is said beside an estimate",
        "server/hubbub_server/analysis/answers.py",
        (("for finding in suspicions(question, tally)", "for finding in suspicions(question, tally)[:0]"),),
        "server/test_suspicion.py",
        "warning",
    ),
)
