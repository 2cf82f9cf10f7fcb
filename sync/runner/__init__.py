"""Turns the machines of a node: handle inputs, commit, release effects; logs what happened."""
