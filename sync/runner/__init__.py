"""Turns a node's machines: handle inputs, commit, release effects; logs what happened."""
