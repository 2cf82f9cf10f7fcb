"""Sessions over the state of a channel, for tests."""
