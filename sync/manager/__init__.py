"""Decides when to reconcile, with which peer, by which protocol, and why."""
