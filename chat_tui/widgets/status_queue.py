"""Notices of the line above the input, and those that wait: answers come before news.

Rules:
1. An answer to what the person just did is said at once, and for its whole time.
2. News waits for it, and for other news; what an answer interrupts is said again after it.
3. An error stays until the person acts; notices shown for a while may take its place meanwhile.
4. What does not hold any more is forgotten: a refusal once the rights are others, an answer once
   there is a reason why nothing can be written.
"""

from collections import deque
from typing import Final

from sync.view.view import Level, Notice

WAITING_MAX: Final = 5
"""News that waits: more would be said long after it happened. The oldest gives way."""


class Saying:
    """See the module docstring; whoever holds this calls `pass_on` when a time is over."""

    def __init__(self) -> None:
        self._said: Notice | None = None
        self._is_answer = False
        self._wrong: Notice | None = None
        self._waiting: deque[Notice] = deque(maxlen=WAITING_MAX)

    @property
    def now(self) -> Notice | None:
        """Notice shown now; None leaves the line to the status sentence."""
        return self._said or self._wrong

    @property
    def is_answer(self) -> bool:
        """True if what is shown now answers the person, or is what went wrong."""
        return self._is_answer or self._said is None

    @property
    def for_a_while(self) -> Notice | None:
        """Notice shown for a limited time only."""
        return self._said

    def answer(self, notice: Notice) -> None:
        """Say what came of something the person did, or what went wrong."""
        if self._said is not None and not self._is_answer:
            self._wait_first(self._said)
        self._said, self._is_answer = notice, True
        self._wrong = notice if notice.level is Level.ERROR else None

    def news(self, notice: Notice) -> None:
        """Say what happened by itself, as soon as there is time; what went wrong has that now."""
        if notice.level is Level.ERROR:
            self.answer(notice)
        elif self._said is None:
            self._said, self._is_answer = notice, False
        else:
            self._waiting.append(notice)

    def pass_on(self) -> None:
        """Say the next: the time is over."""
        self._said = self._waiting.popleft() if self._waiting else None
        self._is_answer = False

    def begin(self) -> None:
        """Forget answers and what went wrong: the person does something else."""
        self._wrong = None
        if self._is_answer:
            self.pass_on()

    def dismiss(self) -> None:
        """Forget what is said: the person has read it."""
        self._wrong = None
        self.pass_on()

    def holds(self, notice: Notice) -> bool:
        """Return whether this very notice is said now, or stays until the person acts."""
        return notice is self._said or notice is self._wrong

    def forget(self, notice: Notice) -> None:
        """Forget a notice that does not hold any more."""
        if notice is self._wrong:
            self._wrong = None
        if notice is self._said:
            self.pass_on()

    def overtake(self) -> None:
        """Forget an answer that was given before the person lost a right: it may hold no more."""
        if self._said is not self._wrong and self._is_answer:
            self.pass_on()

    def _wait_first(self, notice: Notice) -> None:
        if len(self._waiting) < WAITING_MAX:
            self._waiting.appendleft(notice)
