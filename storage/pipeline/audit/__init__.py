"""The audit job: what went wrong, from the consolidated history and the protocol logs."""
