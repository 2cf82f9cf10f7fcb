"""Tests of `sync/sds`."""
