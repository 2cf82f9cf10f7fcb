"""The engine that turns the machines over a real disk, and what its event loop has to watch."""
