"""Snapshots in their group."""
