"""Tests of `storage/pipeline/report`."""
