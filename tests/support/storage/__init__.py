"""Helpers for tests of the storage and the pipeline."""
