"""A snapshot in its group: what is staged, what waits meanwhile, what is swapped in."""
