"""Tests of `sync/net/links`."""
