"""Tests of `sync/calimero/state`."""
