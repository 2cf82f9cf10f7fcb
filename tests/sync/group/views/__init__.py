"""Tests of `sync/group/views`."""
