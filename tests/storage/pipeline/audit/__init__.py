"""Tests of `storage/pipeline/audit`."""
