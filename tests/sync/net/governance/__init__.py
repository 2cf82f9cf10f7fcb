"""Tests of `sync/net/governance`."""
