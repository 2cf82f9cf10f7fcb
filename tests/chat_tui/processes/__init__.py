"""Tests of real chat programs: several at once, on loopback."""
