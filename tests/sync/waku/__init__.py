"""Tests of `sync/waku`."""
