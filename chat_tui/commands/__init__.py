"""The /commands, the same on the screen and in line mode: one file a subject, one table."""
