"""Longest time that a test waits for an expected event."""

from typing import Final

PATIENCE_S: Final = 60.0
"""After this, what a test waits for is taken not to come. Only a test that fails waits so long.

What is waited for takes milliseconds mostly; asking for a missing message and the answer to it are
spread over 6 s each (SDS-R, T_max), and a machine may be busy with five other things.
"""
