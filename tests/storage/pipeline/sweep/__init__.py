"""Tests of `storage/pipeline/sweep`."""
