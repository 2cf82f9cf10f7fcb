"""Tests of `sync/p2panda`."""
