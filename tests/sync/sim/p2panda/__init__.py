"""Tests of `sync/sim`."""
