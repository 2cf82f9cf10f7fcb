"""Calimero: governance of a channel."""
