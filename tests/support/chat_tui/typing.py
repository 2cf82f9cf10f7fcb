"""Typing into a screen under test."""

from textual.pilot import Pilot


async def type_in(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*["space" if key == " " else key for key in text], "enter")
    await pilot.pause()
