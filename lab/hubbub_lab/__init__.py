"""This package is the lab: simulated populations, audits of mechanisms, and the ``hubbub`` command."""
