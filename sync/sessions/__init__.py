"""Sessions of a channel with its peers: table, stages, ends."""
