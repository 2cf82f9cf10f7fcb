"""Answers from published results, without Java: rows of a table, one message's story, two runs."""
