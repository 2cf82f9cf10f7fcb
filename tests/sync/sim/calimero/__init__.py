"""Sessions over messages and state in the simulator."""
