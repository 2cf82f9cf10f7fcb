"""Settings: their table, their files, the values in force."""
