"""Tests of `sync/structures`."""
