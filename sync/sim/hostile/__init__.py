"""Hostile members of a world, and what they do."""
