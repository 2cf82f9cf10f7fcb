"""Benchmarks of whole nodes in programs of their own: what a newcomer waits for."""
