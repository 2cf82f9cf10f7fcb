"""Benchmarks: `python -m tests.bench` runs all of them, or those that are named."""
