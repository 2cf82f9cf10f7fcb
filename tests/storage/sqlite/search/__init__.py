"""Tests of `storage/sqlite/search`."""
