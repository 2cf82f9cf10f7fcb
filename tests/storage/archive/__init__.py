"""Tests of `storage/archive`."""
