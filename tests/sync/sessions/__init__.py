"""Tests of `sync/sessions`."""
