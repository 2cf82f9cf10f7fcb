"""Drawing the demo: a moment and its traffic as lines of the screen. Pure functions."""
