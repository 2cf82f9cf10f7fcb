"""Tests of `storage/sqlite/writes`."""
