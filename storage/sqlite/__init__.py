"""The history of a profile in SQLite: schema, journal, queries, protocol log, repair of damage."""
