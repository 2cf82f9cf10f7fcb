"""Worlds in trouble, whatever the channels are."""
