"""Tests of `sync/net`."""
