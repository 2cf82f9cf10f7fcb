"""Paths and URIs."""
