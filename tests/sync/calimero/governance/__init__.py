"""Tests of `sync/calimero/governance`."""
