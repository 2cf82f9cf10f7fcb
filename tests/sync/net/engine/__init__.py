"""Tests of whole nodes that find by themselves how to compare."""
