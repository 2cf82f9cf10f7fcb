"""Governing of a node in the simulator, and removals with a new epoch."""

from sync.sim.governance.codes import governing_of, removal

__all__ = ["governing_of", "removal"]
