"""Signed entries: identities, encoding, changes, typing."""
