"""Settings of a person: their table, the files they are kept in, the values in force."""
