"""The chat behind the screens: a live profile or a simulated one, its people and channels."""
