"""Signed entries: identities, encoding, changes to other entries, typing."""
