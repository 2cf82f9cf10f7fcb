"""Tests of `sync/net/discovery`."""
