"""This package hands out noisy reports, shuffled, for analyses that we did not think of."""
