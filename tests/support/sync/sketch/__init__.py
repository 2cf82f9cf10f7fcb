"""Sketches for tests: a plain definition, made ones, and members that keep symbols."""
