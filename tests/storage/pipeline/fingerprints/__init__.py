"""Tests of `storage/pipeline/fingerprints`."""
