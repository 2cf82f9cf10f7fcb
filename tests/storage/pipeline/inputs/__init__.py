"""Tests of `storage/pipeline/inputs`."""
