"""Sessions over the messages of a channel: a handshake, then the kind that the rule picks."""
