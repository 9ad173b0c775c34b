"""This file lists faults in several answers of one person."""

from tests.mutants.fault import PROMISES, Fault

SEVERAL = (
    Fault(
        "sampled options: epsilon halved",
        "shared/hubbub/mechanisms/sampled_option.py",
        (("Real.exp(self.epsilon.exact)", "Real.exp(self.epsilon.exact / 2)"),),
        PROMISES,
        "sampled_option",
    ),
    Fault(
        "sampled options: shares of all respondents from the answers of some",
        "shared/hubbub/mechanisms/sampled_option.py",
        (("Shares(no + yes, ", "Shares(no + yes + 1, "),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "sampled options: the luck of who is asked left out",
        "shared/hubbub/parts.py",
        (("np.sqrt(told * own**2 + (1 - told) * whole**2)", "np.sqrt(own**2)"),),
        "statistical/test_several.py",
    ),
    Fault(
        "padded sampling: a slot drawn among the picks only",
        "shared/hubbub/picks.py",
        (("np.maximum(picked.sum(axis=1), most)", "np.maximum(picked.sum(axis=1), 1)"),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "padded sampling: p of the oracle, though only one slot is told",
        "shared/hubbub/mechanisms/padded_sampling.py",
        (("(own.p - own.q) / most", "(own.p - own.q)"),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "sampled attributes: a claim that is amplified by sampling",
        "shared/hubbub/mechanisms/sampled_attribute.py",
        (
            (
                "registry.make(_DEFAULTS[domain.kind], self.epsilon, ",
                "registry.make(_DEFAULTS[domain.kind], Epsilon(self.epsilon.micro * 3 // 2), ",
            ),
        ),
        PROMISES,
        "sampled_attribute",
    ),
    Fault(
        "joint answers: errors of cells taken for independent",
        "shared/hubbub/mechanisms/joint_response.py",
        (
            (
                "channel: Channel = self._oracle.channel",
                "channel: Channel = Channel(self._oracle.channel.p, self._oracle.channel.q)",
            ),
        ),
        PROMISES,
        "joint_response",
    ),
    Fault(
        "key-value: key and number at epsilon each",
        "shared/hubbub/mechanisms/key_value_unary.py",
        (('"b", 2 / (e + 3)', '"b", 1 / (e + 1)'),),
        PROMISES,
        "key_value_unary",
    ),
    Fault(
        "key-value: signs of other keys not at random",
        "shared/hubbub/mechanisms/key_value_unary.py",
        (("signs = coins.words(size * width)", "signs = 0 * coins.words(size * width)"),),
        PROMISES,
        "key_value_unary",
    ),
    Fault(
        "key-value: intervals as of half the reports",
        "shared/hubbub/keyed_means.py",
        (("normal_quantile(level) ** 2 / self.n", "normal_quantile(level) ** 2 / (self.n / 2)"),),
        "statistical/test_several.py",
    ),
    Fault(
        "exponential: epsilon in place of the worst case's half",
        "shared/hubbub/mechanisms/exponential.py",
        (("return (e - 1 + root) / (2 * others)", "return e"),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "exponential: a draw at a bound given to the option below",
        "shared/hubbub/mechanisms/exponential.py",
        (("(bounds <= _below(", "(bounds < _below("),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "joint answers: all of some facts taken for any",
        "shared/hubbub/marginals.py",
        (("np.flatnonzero(np.all(", "np.flatnonzero(np.any("),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "key-value: a mean told of a key that nobody has",
        "shared/hubbub/keyed_means.py",
        (("(self._square(_SURE) > 0)", "(self._square(_SURE) > -1)"),),
        "statistical/test_several.py",
    ),
    Fault(
        "joint answers: the error of a single cell 5 % too large",
        "shared/hubbub/marginals.py",
        (("cells = self._listed(self.joint.stderr", "cells = 1.05 * self._listed(self.joint.stderr"),),
        "statistical/test_stated_errors.py",
        "joint_response",
    ),
)
