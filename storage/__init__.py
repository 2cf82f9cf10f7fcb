"""What survives a restart: the profile directory, and the SQLite database in it."""
