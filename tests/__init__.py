"""Tests: one flat file a module; see STYLE in ARCHITECTURE.md."""
