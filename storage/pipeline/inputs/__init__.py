"""Inputs of the jobs: exports and histories, checked and read in batches."""
