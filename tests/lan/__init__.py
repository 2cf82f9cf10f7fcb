"""Tests on a real network of its own: one namespace a host, a bridge as the switch."""
