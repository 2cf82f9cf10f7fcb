"""Interface of the running chat for every face: screen, line mode, control socket.

`chat_tui.client.live.Client` is the live one. Reading goes through `sync.view.view`; these are the
acts.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from chat_tui.settings.preferences import Preferences
from chat_tui.wording import sentences
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.governance_infos import Access, Role
from sync.view.view import ChannelInfo, Event, History, Inspection, Position, Snapshot

if TYPE_CHECKING:
    from chat_tui.client.doctor.findings import Finding

Progress: TypeAlias = Callable[[int, int], None]
"""(messages read so far, messages to read)."""


def unheard(_done: int, _of: int) -> None:
    """Take no note of progress."""


class Memberships(Protocol):
    """The channels we are in: joining, founding, leaving, inviting."""

    async def join(self, name_or_code: str) -> ChannelId:
        """Join the open channel `#name`, or the private one of an invite code.

        Raises:
            LocalError: neither a name nor a valid code.
        """

    async def create(self, name: str) -> ChannelId:
        """Found a private channel called `name`; `invite` gives its code.

        Raises:
            LocalError: not a usable name.
        """

    def invite(self, channel: ChannelId) -> str:
        """Return the invite code of a private channel.

        Raises:
            LocalError: the channel is open, so its name is enough.
        """

    async def leave(self, channel: ChannelId) -> None:
        """Be a member of a channel no more; its history stays, and it can be joined again.

        Raises:
            LocalError: it is the only channel.
        """


class Governing(Protocol):
    """Acts in channels with a signed history of who is in: founding, members, roles, codes.

    Each returns once it is on this disk; whoever is connected hears of it at once, the others
    later. A `LocalError` has a sentence for the person, among others where nobody governs a channel
    or where one has no right to the act.
    """

    async def found(self, name: str) -> ChannelId:
        """Found a channel called `name` that we own; `invite` gives a code.

        Raises:
            LocalError: not a usable name.
        """

    async def govern(self, channel: ChannelId) -> ChannelId:
        """Found a channel that goes on after a private one, and post its code there.

        Raises:
            LocalError: that one is open, of two, or governed already.
        """

    async def join(self, code: str) -> ChannelId:
        """Enter a channel by a code of either kind, as `Memberships.join` does.

        In a governed one we are a member once somebody is there who has the ops; a code that is no
        longer valid is told of then, in a `Notice`.

        Raises:
            LocalError: no valid code.
        """

    async def invite(self, channel: ChannelId, role: Role = Role.MEMBER) -> str:
        """Return a code by which one enters as a reader or a member, whoever is there then.

        It is the same as before while that one is valid: until somebody is removed, or `rotate`.

        Raises:
            LocalError: we may not invite.
        """

    async def end_invites(self, channel: ChannelId) -> None:
        """End all codes that were given out; the channel's secret changes.

        Raises:
            LocalError: we are no admin.
        """

    async def add(self, channel: ChannelId, peer: PeerId, role: Role = Role.MEMBER) -> None:
        """Let in somebody who asks to be let in again, or whose key is known here.

        Who knows nothing of the channel is sent a code of it, in the channel of two with them.

        Raises:
            LocalError: we may not, they are in, or nothing is known of them but their key.
        """

    async def remove(self, channel: ChannelId, peers: Sequence[PeerId], reason: str = "") -> None:
        """Remove people; the channel's secret changes, and all codes end.

        Args:
            channel: where.
            peers: who goes.
            reason: shown to everybody, at most 200 characters.

        Raises:
            LocalError: we may not, or one of them is not in. Of more people than one op takes out,
                some may be out by then.
        """

    async def set_role(self, channel: ChannelId, peer: PeerId, role: Role) -> None:
        """Make somebody a reader, a member or an admin.

        Raises:
            LocalError: we may not, they are not in, or have that role.
        """

    async def set_policy(self, channel: ChannelId, **fields: Access) -> None:
        """Say who may do what: any of `write`, `invite`, `topic` and `pins`.

        Raises:
            LocalError: we are no admin, or all of it is so already.
        """

    async def rotate(self, channel: ChannelId) -> None:
        """Change the channel's secret, which ends all codes.

        Raises:
            LocalError: we are no admin.
        """

    async def leave(self, channel: ChannelId) -> None:
        """Go: the others are told, and the channel is no longer among ours; its history stays.

        Where nobody is connected they are told later, when somebody is.

        Raises:
            LocalError: it is the only channel.
        """


class Stating(Protocol):
    """Things that a channel knows besides its lines: topic, pins, and what was read."""

    async def set_topic(self, channel: ChannelId, text: str) -> None:
        """Set the topic of a channel; empty takes it back.

        Raises:
            LocalError: we may not, it is too long or not of one line, or the disk refused it.
        """

    async def pin(self, channel: ChannelId, message_id: MessageId, *, on: bool = True) -> None:
        """Pin a line, or take a pin of anybody off.

        Raises:
            LocalError: we may not, or the disk refused it.
        """

    def saw(self, snapshot: Snapshot, channel: ChannelId, position: Position) -> None:
        """Take note that the person, who looks at a channel now, has read up to a line of others.

        The others see it, where the setting says so; cheap enough for once a second.
        """


class People(Protocol):
    """Decisions of the person about others."""

    async def open_direct(self, peer: PeerId) -> ChannelId:
        """Open the channel of two with `peer`; it needs neither code nor answer.

        Raises:
            LocalError: the peer was never connected, is blocked, or is us.
        """

    async def verify(self, peer: PeerId) -> None:
        """Note that the person compared the key of `peer` with its owner."""

    async def trust(self, peer: PeerId) -> None:
        """Accept a changed key that was warned of, without having compared it.

        Raises:
            LocalError: no warning of it stands.
        """

    async def block(self, peer: PeerId) -> None:
        """Keep no link with `peer`, and show nothing of it; what it writes is still passed on.

        Raises:
            LocalError: it is us.
        """

    async def unblock(self, peer: PeerId) -> None:
        """Undo `block`.

        Raises:
            LocalError: it is not blocked.
        """

    async def forget(self, peer: PeerId) -> None:
        """Know nothing more of `peer` but what they wrote: who comes again is met anew.

        Raises:
            LocalError: it is us, they are here or blocked, or a warning of their key stands.
        """


class Chat(Protocol):
    """A running chat: one profile, its channels, its peers."""

    @property
    def memberships(self) -> Memberships:
        """The channels we are in."""

    @property
    def governing(self) -> Governing:
        """The acts in governed channels."""

    @property
    def stating(self) -> Stating:
        """Topics and pins of channels."""

    @property
    def people(self) -> People:
        """The people we know, and what was decided about them."""

    @property
    def settings(self) -> Preferences:
        """Settings of the person, which may change while it runs."""

    @property
    def history(self) -> History:
        """Messages on disk."""

    @property
    def inspection(self) -> Inspection:
        """Inspection for engineers: frames, a test of the filter, recordings."""

    def snapshot(self) -> Snapshot:
        """Return what is true now; cheap enough for once a second."""

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call `listener` with every event from now on, on the event loop; returns the way out.

        The engine never waits for a listener: it must only take note and return.
        """

    async def send_text(
        self, channel: ChannelId, text: str, reply_to: MessageId | None = None
    ) -> MessageId:
        """Write `text`; returns once it is committed on this disk, before anybody else has it.

        Args:
            channel: where.
            text: what.
            reply_to: the message that it answers, which is delivered here.

        Raises:
            LocalError: empty, too long, or the disk refused it; or what it answers is not here, or
                nothing that can be answered. The sentence says what to do.
        """

    async def edit(self, channel: ChannelId, message_id: MessageId, text: str) -> None:
        """Put `text` in place of an own message, for everybody; returns once it is committed.

        Raises:
            LocalError: not ours, not here, deleted, or as `send_text`.
        """

    async def react(self, channel: ChannelId, message_id: MessageId, emoji: str) -> bool:
        """React to a message with `emoji`, or take that back; returns whether we react so now.

        Raises:
            LocalError: not here, deleted, no emoji, or too many of them.
        """

    async def redact(self, channel: ChannelId, message_id: MessageId) -> None:
        """Hide an own message, here and at everybody who honours it.

        Raises:
            LocalError: not ours, not here, or deleted already.
        """

    def typing(self, channel: ChannelId) -> None:
        """Take note that the person is typing there: the others see it, unless that is off.

        Cheap enough for every key.
        """

    def key_came(self) -> None:
        """Take note that a key is on its way to the screen, which comes before other work."""

    def key_shown(self) -> None:
        """Take note that it is there, or that what it began is to be done now."""

    async def resend(self, channel: ChannelId, message_id: MessageId) -> MessageId:
        """Send an own message again that is not acknowledged; returns the id of what was sent.

        It is another one where the message was set aside until its time: that is written anew.

        Raises:
            LocalError: it is not ours, or it is acknowledged already.
        """

    async def answer_clock(self, *, follow: bool) -> None:
        """Answer the question about our clock (`Snapshot.clock`): follow the others, or stay.

        Raises:
            LocalError: nothing is asked about the clock now.
        """

    async def repair(self, channel: ChannelId, message_ids: tuple[MessageId, ...]) -> None:
        """Ask peers for missing messages now, lost ones too; for all, if none is named.

        A message that was asked for just now is asked for again once its answers had their time.
        """

    async def repair_before(self, channel: ChannelId, message_id: MessageId) -> None:
        """Ask peers now for what a message builds on and is not here; as `repair`."""

    async def connect(self, host: str, port: int) -> None:
        """Dial a peer by address, for networks that block multicast.

        Raises:
            LocalError: nobody answers there.
        """

    async def be_away(self, why: str) -> None:
        """Tell everybody that the person is away, and why; empty: is back.

        Raises:
            LocalError: too long.
        """

    async def sync(self, channel: ChannelId, peer: PeerId | None = None, protocol: str = "") -> int:
        """Reconcile with `peer`, or every peer, of the channel now; returns how many those are.

        Args:
            channel: where.
            peer: with whom; None for everybody.
            protocol: the name of the one to compare by; empty for any.

        Raises:
            LocalError: `protocol` is unknown, or cannot be used with `peer`.
        """

    def examine(self, *, deep: bool = False, tell: Progress = unheard) -> "AsyncIterator[Finding]":
        """Test what the chat needs, beside the running one (`chat_tui.client.doctor.doctor`).

        With `deep` every stored message is read instead, and what is damaged set aside; `tell`
        hears how many of how many. It ends early if whoever asks is cancelled.

        Raises:
            LocalError: there is nothing to test.
        """

    async def rename(self, nick: str) -> None:
        """Be called `nick` from now on.

        Raises:
            LocalError: empty or too long.
        """


NOWHERE: Final = "No channel is open. /join #lobby opens the one everybody shares."


def channel_info(chat: Chat, channel: ChannelId | None) -> ChannelInfo:
    """Return what is known of a channel of ours.

    Raises:
        LocalError: none is open.
    """
    info = sentences.find(chat.snapshot(), channel)
    if info is None:
        raise LocalError(NOWHERE)
    return info
