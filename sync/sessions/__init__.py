"""Sessions of a channel with its peers: their table, stages, limits and ends."""
