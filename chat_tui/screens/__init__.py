"""Screens that open over the chat: help, palette, peers, settings, first run."""
