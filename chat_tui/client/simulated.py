"""The simulated `Chat`: a participant of a simulated world behind the real screens."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Final, Never, TypeVar

from chat_tui.client.chat import Progress, unheard
from chat_tui.client.doctor.findings import Finding
from chat_tui.client.message_changes import edit_of, redaction_of, refuse_answering, toggled
from chat_tui.client.read_marks import dressed
from chat_tui.client.stating import Stating
from chat_tui.client.trust_book import TrustBook
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import TYPING_NOTICES
from chat_tui.wording import rights
from chat_tui.wording.sentences import name_of
from sync.entries.changes import Change
from sync.errors import LocalError
from sync.group.ingest import outline_of_entry
from sync.group.state_values import Content, StateKind, StateSet
from sync.group.values import AskAgain, SendAgain, Written
from sync.machine import MILLISECOND, SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.runner.batch import Release
from sync.runner.runner import Runner
from sync.sds.channel import NOT_WAITING
from sync.sim.view import SimulatedView
from sync.sim.world import World
from sync.view.governance_infos import Access, Right, Role
from sync.view.view import Event, History, Inspection, Notice, Snapshot, Trust

COMMITTED_WITHIN: Final[Nanos] = SECOND
"""Time of the world that a line may take to its disk, hundreds of times what a commit takes."""

STEP: Final[Nanos] = MILLISECOND

E = TypeVar("E", Written, StateSet)

UNGOVERNED: Final = "nobody governs its only channel"


def refuse(what: str) -> Never:
    """Say that a simulation cannot do something."""
    raise LocalError(f"This is a simulation: {what}. `make chat` starts the real chat.")


class SimulatedMemberships:
    """The one channel of a simulation, which cannot be changed."""

    async def join(self, name_or_code: str) -> ChannelId:
        """See `chat_tui.client.chat.Memberships`; refused here."""
        refuse(f"{name_or_code} cannot be joined")

    async def create(self, name: str) -> ChannelId:
        """See `chat_tui.client.chat.Memberships`; refused here."""
        refuse(f"{name} cannot be created")

    def invite(self, channel: ChannelId) -> str:
        """See `chat_tui.client.chat.Memberships`; refused here."""
        del channel
        refuse("nobody can be invited")

    async def leave(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Memberships`; refused here."""
        del channel
        refuse("its only channel cannot be left")


class SimulatedGoverning:
    """Acts in governed channels, of which a simulation behind the screens has none."""

    async def found(self, name: str) -> ChannelId:
        """See `chat_tui.client.chat.Governing`; refused here."""
        refuse(f"{name} cannot be founded")

    async def govern(self, channel: ChannelId) -> ChannelId:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel
        refuse(UNGOVERNED)

    async def join(self, code: str) -> ChannelId:
        """See `chat_tui.client.chat.Governing`; refused here."""
        refuse(f"{code} cannot be joined")

    async def invite(self, channel: ChannelId, role: Role = Role.MEMBER) -> str:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel, role
        refuse("nobody can be invited")

    async def end_invites(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel
        refuse(UNGOVERNED)

    async def add(self, channel: ChannelId, peer: PeerId, role: Role = Role.MEMBER) -> None:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel, peer, role
        refuse(UNGOVERNED)

    async def remove(self, channel: ChannelId, peers: Sequence[PeerId], reason: str = "") -> None:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel, peers, reason
        refuse(UNGOVERNED)

    async def set_role(self, channel: ChannelId, peer: PeerId, role: Role) -> None:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel, peer, role
        refuse(UNGOVERNED)

    async def set_policy(self, channel: ChannelId, **fields: Access) -> None:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel, fields
        refuse(UNGOVERNED)

    async def rotate(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel
        refuse(UNGOVERNED)

    async def leave(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Governing`; refused here."""
        del channel
        refuse("its only channel cannot be left")


class SimulatedPeople:
    """People in a simulation; `snapshot` tells who they are, and the time."""

    def __init__(self, me: PeerId, snapshot: Callable[[], Snapshot]) -> None:
        self.book = TrustBook(me)
        """People who are known, and their trust."""
        self._snapshot = snapshot

    async def verify(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`; remembered as long as the simulation runs."""
        self.book.verify(peer, name_of(self._snapshot(), peer), self._snapshot().now)

    async def trust(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`."""
        if self.book.trust(peer) is not Trust.CHANGED:
            raise LocalError("Their key has not changed; there is nothing to accept.")
        self.book.answer(peer)

    async def block(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`; refused here."""
        refuse(f"{name_of(self._snapshot(), peer)} cannot be blocked")

    async def unblock(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`; refused here."""
        refuse(f"{name_of(self._snapshot(), peer)} cannot be blocked")

    async def forget(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`; refused here."""
        refuse(f"{name_of(self._snapshot(), peer)} cannot be forgotten")

    async def open_direct(self, peer: PeerId) -> ChannelId:
        """See `chat_tui.client.chat.People`; refused here."""
        refuse(f"nobody can write to {name_of(self._snapshot(), peer)} alone")


class SimulatedChat:
    """Participant `number` of `world` in one channel, its first one if no other is named.

    `names` are everybody's, in the order of the numbers.
    """

    def __init__(
        self, world: World, number: int, names: Sequence[str], channel: ChannelId | None = None
    ) -> None:
        self._world, self._number = world, number
        self._channel = channel or world.channel
        self._view = SimulatedView(world, number, names, channel)
        self.people = SimulatedPeople(world.nodes[number].identity.peer_id, self.snapshot)
        self.memberships = SimulatedMemberships()
        self.governing = SimulatedGoverning()
        self.settings = Preferences()
        """See `chat_tui.client.chat.Chat`; kept in memory alone."""
        self.stating = Stating(
            self._set_state, self._with_marks, self.settings, self._untold, noticed=True
        )

    @property
    def history(self) -> History:
        """See `chat_tui.client.chat.Chat`."""
        return self._view.history

    @property
    def inspection(self) -> Inspection:
        """See `chat_tui.client.chat.Chat`."""
        return self._view.inspection

    def snapshot(self) -> Snapshot:
        """See `chat_tui.client.chat.Chat`."""
        return dressed(self._with_marks(), self.settings, self.people.book.blocked())

    def _with_marks(self) -> Snapshot:
        return self.people.book.dress(self._view.snapshot())

    def _untold(self, _notice: Notice) -> None:
        """Tell nobody: in a simulation there is nobody to hide from."""

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """See `chat_tui.client.chat.Chat`."""
        return self._view.subscribe(listener)

    async def send_text(
        self, channel: ChannelId, text: str, reply_to: MessageId | None = None
    ) -> MessageId:
        """Write `text`, and let the world's time pass until it is committed.

        Raises:
            LocalError: empty, too long, another channel, or the simulated disk refused it.
        """
        rights.refuse(self.snapshot(), channel, Right.WRITE)
        if reply_to is not None:
            await refuse_answering(self.history, channel, reply_to)
        return await self._written(
            channel, partial(self._world.write_text, self._number, text, channel, reply_to)
        )

    async def edit(self, channel: ChannelId, message_id: MessageId, text: str) -> None:
        """See `chat_tui.client.chat.Chat`; the world's time passes as in `send_text`."""
        await self._change(channel, await edit_of(self.history, channel, message_id, text))

    async def react(self, channel: ChannelId, message_id: MessageId, emoji: str) -> bool:
        """See `chat_tui.client.chat.Chat`; the world's time passes as in `send_text`."""
        reactions = await toggled(self.history, channel, message_id, emoji)
        await self._change(channel, reactions)
        return emoji in reactions.emojis

    async def redact(self, channel: ChannelId, message_id: MessageId) -> None:
        """See `chat_tui.client.chat.Chat`; the world's time passes as in `send_text`."""
        await self._change(channel, await redaction_of(self.history, channel, message_id))

    async def _change(self, channel: ChannelId, change: Change) -> MessageId:
        return await self._written(
            channel, partial(self._world.change, self._number, change, channel)
        )

    async def _set_state(
        self, channel: ChannelId, kind: StateKind, content: Content | None, name: bytes
    ) -> None:
        """Set a register of the participant, and let the world's time pass until it is committed.

        Raises:
            LocalError: another channel, or the simulated disk refused it.
        """
        self._runner(channel)
        states = partial(
            self._world.set_state, self._number, content, channel, kind=kind, name=name
        )
        await self._committed(states, StateSet)

    async def _written(self, channel: ChannelId, write: Callable[[], None]) -> MessageId:
        """Do what writes one entry, and let the world's time pass until it is committed."""
        self._runner(channel)
        written = await self._committed(write, Written)
        return written.message_id

    async def _committed(self, act: Callable[[], None], effect: type[E]) -> E:
        """Do something, and let the world's time pass until this effect of it is let out."""
        done: list[E] = []

        def note(number: int, release: Release) -> None:
            if number == self._number and isinstance(release.effect, effect):
                done.append(release.effect)

        self._world.listeners.append(note)
        try:
            act()
            deadline = self._world.now + COMMITTED_WITHIN
            while not done and self._world.now < deadline:
                self._world.run(STEP)
        finally:
            self._world.listeners.remove(note)
        if not done:
            raise LocalError(
                "The simulated disk is full: free its space, then write the line again."
            )
        return done[0]

    def typing(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Chat`."""
        if self.settings[TYPING_NOTICES] and channel == self._channel == self._world.channel:
            self._world.tell_typing(self._number)

    def key_came(self) -> None:
        """Hold nothing back: here a turn of the world takes the loop by itself."""

    def key_shown(self) -> None:
        """See `key_came`."""

    async def resend(self, channel: ChannelId, message_id: MessageId) -> MessageId:
        """Send an own message again, or write it anew, at the participant's next turn.

        Raises:
            LocalError: it does not wait for anything.
        """
        runner = self._runner(channel)
        if message_id in runner.groups[channel].aside.own():
            return await self._written(
                channel, lambda: self._world.write_anew(self._number, message_id)
            )
        if message_id not in runner.groups[channel].sds.outgoing.pending:
            raise LocalError(NOT_WAITING)
        runner.queue_input(channel, SendAgain(message_id))
        return message_id

    async def answer_clock(self, *, follow: bool) -> None:
        """See `chat_tui.client.chat.Chat`."""
        self._view.answer_clock(follow=follow)

    async def repair(self, channel: ChannelId, message_ids: tuple[MessageId, ...]) -> None:
        """See `chat_tui.client.chat.Chat`."""
        self._runner(channel)
        self._world.give(self._number, AskAgain(message_ids))

    async def repair_before(self, channel: ChannelId, message_id: MessageId) -> None:
        """See `chat_tui.client.chat.Chat`."""
        self._runner(channel)
        loaded = self._world.nodes[self._number].disk.load(message_id)
        gap = outline_of_entry(loaded.entry, loaded.waku_hash)
        self._world.give(self._number, AskAgain((), (gap,)))

    async def sync(self, channel: ChannelId, peer: PeerId | None = None, protocol: str = "") -> int:
        """Reconcile with `peer`, or all, beginning at the participant's next turn."""
        runner = self._runner(channel)
        peers = [one for one in sorted(runner.groups[channel].peers) if peer in (None, one)]
        for one in peers:
            runner.ask_sync(channel, one, self.snapshot().now, protocol)
        return len(peers)

    async def be_away(self, why: str) -> None:
        """See `chat_tui.client.chat.Chat`; refused here."""
        del why
        refuse("nobody can be away")

    async def examine(
        self, *, deep: bool = False, tell: Progress = unheard
    ) -> AsyncIterator[Finding]:
        """See `chat_tui.client.chat.Chat`; refused here."""
        del deep, tell
        yield refuse("there is no network to test")

    async def connect(self, host: str, port: int) -> None:
        """See `chat_tui.client.chat.Chat`; refused here."""
        refuse(f"{host}, port {port}, cannot be reached")

    async def rename(self, nick: str) -> None:
        """See `chat_tui.client.chat.Chat`; refused here."""
        refuse(f"nobody can become {nick}")

    def _runner(self, channel: ChannelId) -> Runner:
        runner = self._world.nodes[self._number].runner
        if runner is None or channel != self._channel:
            raise LocalError("This participant of the simulation is not in that channel now.")
        return runner
