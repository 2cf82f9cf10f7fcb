"""Snapshots in tests: both ends alone, and newcomers of a world."""
