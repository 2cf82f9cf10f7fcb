"""Tests of checks on threads."""
