"""Tests of the project itself: documents, layout, lock files, pictures."""
