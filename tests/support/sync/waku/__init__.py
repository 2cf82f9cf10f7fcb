"""Helpers for tests of Waku Sync."""
