"""This file adds up the faults that are planted, which others shipped or we could have."""

from tests.mutants.faults.analysis import ANALYSIS
from tests.mutants.faults.choices import CHOICES
from tests.mutants.faults.coins import COINS
from tests.mutants.faults.devices import DEVICES
from tests.mutants.faults.distributions import DISTRIBUTIONS
from tests.mutants.faults.fakes import FAKES
from tests.mutants.faults.hashing import HASHING
from tests.mutants.faults.interface import INTERFACE
from tests.mutants.faults.longitudinal import LONGITUDINAL
from tests.mutants.faults.means import MEANS
from tests.mutants.faults.memos import MEMOS
from tests.mutants.faults.operations import OPERATIONS
from tests.mutants.faults.plans import PLANS
from tests.mutants.faults.postgres import POSTGRES
from tests.mutants.faults.several import SEVERAL
from tests.mutants.faults.shares import SHARES
from tests.mutants.faults.sqlite import SQLITE
from tests.mutants.faults.stores import STORES
from tests.mutants.faults.texts import TEXTS

FAULTS = (
    *CHOICES,
    *HASHING,
    *COINS,
    *MEANS,
    *DISTRIBUTIONS,
    *TEXTS,
    *SEVERAL,
    *LONGITUDINAL,
    *MEMOS,
    *DEVICES,
    *SHARES,
    *PLANS,
    *FAKES,
    *ANALYSIS,
    *INTERFACE,
    *OPERATIONS,
    *POSTGRES,
    *SQLITE,
    *STORES,
)
