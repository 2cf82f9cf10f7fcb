"""Keys and clicks one after the other: each has had its effect before the next finds its way.

Textual gives a key to the widget in focus; what that does not take climbs to the application, which
acts only then. Of keys sent in one burst (a slow line, a macro, a quick hand) all would be given
out before the first has opened anything: F2 and 4 would write a 4 (Textual's issue 6605). A click,
or the window that is left, would overtake keys that are held.

Rules:
1. While a key or a button of the mouse may still have an effect, all that is heard after it is
   held; what is only written never is.
2. It has had its effect when a call has gone its whole way behind it, then the way of what it
   caused, and the screen in front has come to rest. No time is guessed.
3. Nothing is ever held for ever: not without number, and not by something that hangs.
4. Of what is only written, few keys are given out in one turn of the loop: Textual handles what
   waits in its queues without a pause, and a text of 20,000 letters that a terminal sends as keys
   would keep the loop until links die.
5. Whoever is asked to leave by the system does not wait for such a text.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Final, Generic, TypeVar

from textual.app import App
from textual.errors import NoWidget
from textual.events import AppBlur, AppFocus, Event, Key, MouseDown, MouseEvent, MouseUp, Paste
from textual.message_pump import MessagePump
from textual.timer import Timer
from textual.widget import Widget

ReturnType = TypeVar("ReturnType")

Heard = Key | Paste | MouseEvent | AppFocus | AppBlur
"""Things that a terminal tells of the person before it."""

HELD_MAX: Final = 64_000
"""Events held at once, as many as one paste has: more come from no hand."""

HELD_FOR_S: Final = 3.0
"""For one event at the longest: beyond that something hangs, and Ctrl+Q must get through."""

KEYS_A_TURN: Final = 4
"""Letters given out in one turn of the loop where more wait; each takes a millisecond or two."""


class InOrder(App[ReturnType], Generic[ReturnType]):
    """An application that hears keys and clicks in their order, see the module docstring."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self._held: deque[Heard] = deque()
        self._number = 0
        """Of the event that was given out last."""
        self._settling = False
        """Whether that one may still have an effect."""
        self._patience: Timer | None = None
        self._is_deaf = False

    def hear_no_more(self) -> None:
        """Drop what was typed and had no effect yet, and all that is typed from now on."""
        self._is_deaf = True
        self._held.clear()

    async def on_event(self, event: Event) -> None:
        """Hold events back while one before them may still have an effect."""
        if not isinstance(event, Heard) or event.is_forwarded:
            await super().on_event(event)
        elif self._is_deaf:
            return
        elif self._settling:
            if len(self._held) < HELD_MAX:
                self._held.append(event)
            self._lose_patience_in_time()
        else:
            await self._give(event)

    async def _give(self, event: Heard) -> None:
        """Give an event to whom it concerns now, and a call behind it."""
        self._number += 1
        self._settling = _may_act(event, self.focused)
        target = self._target_of(event) if self._settling else None
        await super().on_event(event)
        if target is not None:
            self._lose_patience_in_time()
            await self._follow(self._way_from(target), self._number)
        elif self._number % KEYS_A_TURN == 0 and (self._held or self.message_queue_size):
            await asyncio.sleep(0)

    async def _follow(self, way: Iterator[MessagePump], number: int) -> None:
        """Go on to the next station, once this one has done all it was told before."""
        for station in way:
            if station.call_later(self._follow, way, number):
                return  # otherwise it is gone, and with it what it was told
        await self._settled(number)

    def _target_of(self, event: Heard) -> MessagePump:
        """Return the widget that gets an event: under the mouse, or with the keys."""
        if not isinstance(event, MouseEvent):
            return self.focused or self.screen
        with suppress(NoWidget):
            return self.mouse_captured or self.screen.get_widget_at(event.x, event.y)[0]
        return self.screen

    def _way_from(self, target: MessagePump) -> Iterator[MessagePump]:
        """Yield the way of an event, again for what its action said there, then the front screen.

        The last is the application again: to give somebody the keys is a call it gets, too.
        """
        for _ in range(2):
            station: MessagePump | None = target
            while station is not None:
                yield station
                station = station._parent  # noqa: SLF001  # as keys bubble, screens to the app
        yield from self.screen_stack[-1:]
        yield self

    async def _settled(self, number: int) -> None:
        """Give out the events held, up to the next that may have an effect."""
        if number != self._number or not self._settling:
            return
        self._settling = False
        if self._patience is not None:
            self._patience.stop()
            self._patience = None
        while self._held and not self._settling:
            await self._give(self._held.popleft())

    def _lose_patience_in_time(self) -> None:
        if self._held and self._patience is None:
            self._patience = self.set_timer(HELD_FOR_S, partial(self._settled, self._number))


def _may_act(event: Heard, focused: Widget | None) -> bool:
    """Return whether it may do more than write text into a field that has the keys."""
    if not isinstance(event, Key):
        return isinstance(event, MouseDown | MouseUp)
    if focused is None or event.key.startswith(("alt+", "ctrl+")):
        return True
    return not focused.check_consume_key(event.key, event.character)
