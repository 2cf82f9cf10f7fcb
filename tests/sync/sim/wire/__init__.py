"""Nodes that share one slow wire."""
