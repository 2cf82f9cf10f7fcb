"""Tests of `sync/entries`."""
