"""Tests of `storage/pipeline/spark`."""
