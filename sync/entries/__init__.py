"""Signed entries: identities, an entry and its encoding, changes to other entries, typing."""
