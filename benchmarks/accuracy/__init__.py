"""This package measures errors, not times: ours against the least that is known, and against peers."""
