"""Tests of `sync/group`."""
