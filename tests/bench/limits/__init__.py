"""Limits: figures beside floors that are timed in the same run."""
