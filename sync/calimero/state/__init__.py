"""State of a channel beside its lines: signed registers and their tree."""
