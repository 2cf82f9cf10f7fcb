"""A governed channel of a world: its founding, the bounds of its tables, and what must hold."""
