"""Tests of `sync/calimero`."""
