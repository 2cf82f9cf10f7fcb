"""Tests of `sync/manager`."""
