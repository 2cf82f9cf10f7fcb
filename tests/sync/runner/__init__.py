"""Tests of `sync/runner`."""
