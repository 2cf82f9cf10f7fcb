"""Tests of `storage/pipeline/delivery`."""
