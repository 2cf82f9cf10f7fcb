"""Persistent storage: the profile directory, and the SQLite database in it."""
