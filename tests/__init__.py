"""Tests: they mirror the code, with helpers in `tests.support`."""
