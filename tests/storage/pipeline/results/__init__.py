"""Tests of `storage/pipeline/results`."""
