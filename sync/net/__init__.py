"""The live driver: discovery, links, the engine over a real disk, and the clock."""
