"""A slow wire that all simulated nodes share, and what depends on its queue."""
