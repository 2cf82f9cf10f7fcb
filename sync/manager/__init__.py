"""Decides when to reconcile, with whom, by which protocol, and why."""
