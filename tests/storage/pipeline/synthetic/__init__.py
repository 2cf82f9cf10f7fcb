"""Tests of `storage/pipeline/synthetic`."""
