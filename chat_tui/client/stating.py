"""Things that we set in channels besides lines: topic, pins, our appearance, read marks."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

from chat_tui.client.read_marks import NOTICE, ReadMarks, Step, are_on
from chat_tui.settings.colour_names import COLOUR_OF_KEY
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import COLOUR, STATUS, STATUS_MAX
from chat_tui.wording import rights
from chat_tui.wording.sentences import find
from sync.errors import LocalError
from sync.group.state_values import Content, Pin, Profile, Read, StateKind, Topic
from sync.machine import ChannelId, MessageId
from sync.view.governance_infos import Right
from sync.view.view import (
    ChannelInfo,
    ChannelShown,
    Event,
    MembershipShown,
    MessageShown,
    Notice,
    Position,
    Snapshot,
)

TOPIC_MAX: Final = 120
"""Characters of a topic, as `sync.calimero.state.contents` has it."""

READING_DISK_S: Final = 0.1
"""Seconds between two looks at channels whose state is being read from the disk."""

Setting: TypeAlias = Callable[[ChannelId, StateKind, Content | None, bytes], Awaitable[None]]
"""Sets a register of ours (`sync.net.node.Node.set_state`)."""


def status_of(away: str) -> str:
    """Return why somebody is away as their status, shortened if it is longer than one can be."""
    said = " ".join(away.split())
    return said if len(said) <= STATUS_MAX else f"{said[: STATUS_MAX - 1]}…"


class Stating:
    """See `chat_tui.client.chat.Stating`.

    Args:
        set_state: sets a register of ours.
        snapshot: tells what there is, with all read marks.
        settings: say where marks are told.
        tell: tells the person.
        noticed: whether the person was told of read marks before.
    """

    def __init__(
        self,
        set_state: Setting,
        snapshot: Callable[[], Snapshot],
        settings: Preferences,
        tell: Callable[[Notice], None],
        *,
        noticed: bool,
    ) -> None:
        self._set = set_state
        self._snapshot = snapshot
        self._settings = settings
        self._tell = tell
        self._marks = ReadMarks(noticed=noticed)
        self._sending: set[asyncio.Task[None]] = set()
        self._wanted = asyncio.Event()
        self._unread = False
        self._nameless: set[ChannelId] = set()
        """Channels in which our appearance does not stand yet."""

    async def set_topic(self, channel: ChannelId, text: str) -> None:
        """See `chat_tui.client.chat.Stating`."""
        self._check(channel, Right.TOPIC)
        topic = " ".join(text.split())
        if len(topic) > TOPIC_MAX:
            raise LocalError(f"The topic has {len(topic):,} characters; {TOPIC_MAX} is the most.")
        if not topic.isprintable():
            raise LocalError("A topic has printable characters alone, in one line.")
        await self._set(channel, StateKind.TOPIC, Topic(topic) if topic else None, b"")

    async def pin(self, channel: ChannelId, message_id: MessageId, *, on: bool = True) -> None:
        """See `chat_tui.client.chat.Stating`."""
        self._check(channel, Right.PIN)
        name = bytes.fromhex(message_id)
        await self._set(channel, StateKind.PIN, Pin() if on else None, name)

    def _check(self, channel: ChannelId, right: Right) -> None:
        snapshot = self._snapshot()
        info = find(snapshot, channel)
        if info is not None:
            rights.check_setting(snapshot, info, right)

    # -- read marks ----------------------------------------------------------------------------

    def saw(self, snapshot: Snapshot, channel: ChannelId, position: Position) -> None:
        """See `chat_tui.client.chat.Stating`."""
        info = find(snapshot, channel)
        if info is None or not info.state.restored or not are_on(self._settings, info):
            return
        if (mine := info.state.read(snapshot.me)) is not None:
            self._marks.know(channel, (mine.lamport, mine.message_id))
        match self._marks.look(channel, position, snapshot.now):
            case Step.SAY:
                self._tell(Notice(NOTICE))
            case Step.SEND:
                task = asyncio.get_running_loop().create_task(self._send(channel, position))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)
            case Step.WAIT:
                pass

    async def _send(self, channel: ChannelId, position: Position) -> None:
        lamport, message_id = position
        try:
            mark = Read(lamport, bytes.fromhex(message_id))
            await self._set(channel, StateKind.READ, mark, b"")
        except LocalError:  # who is out tells nobody
            self._marks.refuse(channel, self._snapshot().now)

    # -- what follows from settings, name and channels -------------------------------------------

    def note_event(self, event: Event) -> None:
        """Look again where a channel was taken up, we may be in one now, or have written first.

        In an open channel what we set counts only once we have.
        """
        match event:
            case ChannelShown() | MembershipShown():
                self.look_again()
            case MessageShown(line) if line.own and line.channel in self._nameless:
                self.look_again()
            case _:
                pass

    def look_again(self) -> None:
        """Have name, status and settings of now stand in all channels, soon."""
        self._wanted.set()

    async def keep_forever(self) -> None:
        """Let what we say of ourselves be true in every channel, whenever it may have changed."""
        while True:
            self._wanted.clear()
            await self.keep()
            if self._unread:
                await asyncio.sleep(READING_DISK_S)
            else:
                await self._wanted.wait()

    async def keep(self) -> None:
        """Set our appearance where it is another, and take marks back where they are hidden."""
        snapshot = self._snapshot()
        self._unread = not all(info.state.restored for info in snapshot.channels)
        for info in snapshot.channels:
            if info.state.restored:
                with suppress(LocalError):  # not in, or not yet: asked again once we are
                    await self._keep_in(info, snapshot)

    def _profile(self, snapshot: Snapshot) -> Profile:
        """Return how we want to be shown; why we are away stands before any other status."""
        colour = self._settings[COLOUR]
        return Profile(
            snapshot.nick,
            "" if colour == COLOUR_OF_KEY else colour,
            status_of(snapshot.away) or self._settings[STATUS] or "",
        )

    async def _keep_in(self, info: ChannelInfo, snapshot: Snapshot) -> None:
        wanted = self._profile(snapshot)
        held = info.state.profile(snapshot.me)
        if held is None or Profile(held.nick, held.colour, held.status) != wanted:
            self._nameless.add(info.channel)
            await self._set(info.channel, StateKind.PROFILE, wanted, b"")
        else:
            self._nameless.discard(info.channel)
        if info.state.read(snapshot.me) is not None and not are_on(self._settings, info):
            self._marks.forget(info.channel)
            await self._set(info.channel, StateKind.READ, None, b"")
