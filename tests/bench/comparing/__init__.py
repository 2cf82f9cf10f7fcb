"""Rows of benchmarks about ways to compare."""
