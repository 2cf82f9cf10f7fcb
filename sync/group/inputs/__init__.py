"""Inputs of a channel by subject: functions that take its machines and return effects.

- `admission`: the one way in of every checked entry.
- `transfers`: what sessions bring.
- `acts`: governance ops, and catching up on them.
- `state`: state entries and roots.
- `clocks`: the reference clock, and what waits for it.
- `disk`: what the disk holds at the start, and what has rotted on it.
"""
