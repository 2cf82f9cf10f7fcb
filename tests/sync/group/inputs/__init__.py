"""Tests of the inputs of a channel."""
