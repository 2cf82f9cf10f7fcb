"""Tests of `sync/check`."""
