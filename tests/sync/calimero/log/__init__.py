"""Tests of `sync/calimero/log`."""
