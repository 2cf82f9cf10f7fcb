"""Slash commands, the same on the screen and in line mode: one table, one file for each subject."""
