"""Checks on threads, beside the event loop: pages of snapshots, messages that wait."""
