"""Tests of the pipeline, a folder for each job."""
