"""Tests of the kinds of sessions between whole nodes."""
