"""Damage to a database: what follows from the messages is made anew, what can be read is copied."""
