"""This package makes up believable crowds, one file a kind of domain, and knows the truth about them."""

from hubbub_lab.crowds.crowd import Crowd
from hubbub_lab.crowds.kinds import KINDS

__all__ = ["KINDS", "Crowd"]
