"""Tests of `storage/profile`."""
