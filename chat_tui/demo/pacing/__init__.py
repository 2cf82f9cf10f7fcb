"""The viewer's time in the demo: what was on its way when, and how long each of it is shown."""
