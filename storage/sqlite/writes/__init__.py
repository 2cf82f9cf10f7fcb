"""Bulk of what is written: new messages, and the pages of a snapshot until they are some."""
