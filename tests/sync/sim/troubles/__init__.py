"""Open channels in troubles drawn from seeds."""
