"""Tests of the engine, room by room."""
