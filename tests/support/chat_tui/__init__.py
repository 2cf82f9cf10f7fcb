"""Helpers for tests of the chat: scenes, screens, terminals, pictures."""
