"""Tests of `storage.pipeline.answers`."""
