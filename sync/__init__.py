"""Peer protocols as state machines without IO, and the runners that drive them."""
