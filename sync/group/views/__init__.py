"""A group as its machines may look at it."""
