"""Signed acts of a channel, and who is in by them at any cut."""
