"""Tests of `sync/view`."""
