"""Tests of the storage, room by room."""
