"""Helpers of the tests, by the room they serve."""
