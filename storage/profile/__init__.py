"""Files and tables of a profile beside its history: identity, channels, trust, read marks."""
