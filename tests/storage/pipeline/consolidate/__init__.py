"""Tests of `storage/pipeline/consolidate`."""
