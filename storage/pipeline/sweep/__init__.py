"""The sweep job: simulates a grid of parameters, one world per task."""
