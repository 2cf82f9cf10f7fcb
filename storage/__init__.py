"""Persistent storage: profiles, their SQLite databases, archives, and the pipeline over these."""
