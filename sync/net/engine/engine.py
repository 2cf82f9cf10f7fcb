"""Turns the runner over a real disk: handle for a slice, commit, then release, in order.

One task turns; everything else only feeds. A refused commit is undone: its writers are told, and
the machines begin anew from the disk. Until then nothing is taken from peers, who keep it and offer
it again, and what is told once waits, the newest of each kind (`sync.runner.input_rules`); so their
links stay alive, and nothing piles up.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, Protocol, TypeVar

from sync.calimero.governance.ops import Op, OpId
from sync.errors import LEFT, ChatError, LocalError, RemoteError, StorageError
from sync.group import values
from sync.group.group import Group
from sync.machine import MILLISECOND, SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.net.checks.early_checks import EarlyChecks
from sync.net.clock import Clock
from sync.net.engine.key_priority import KeyPriority
from sync.net.engine.loop_watch import Watch, watch_of_loop
from sync.net.engine.own_inputs import Outcome, OwnInputs, Together
from sync.runner.batch import Batch, tell_looks
from sync.runner.input_queue import Addressed
from sync.runner.input_rules import OWN, RULES, Ill
from sync.runner.journal import Journal, Loaded
from sync.runner.just_stored import just_stored
from sync.runner.newest import Newest
from sync.runner.runner import Runner
from sync.sds.message import HistoryEntry
from sync.view.view import Level, Notice

T = TypeVar("T")

GROUP: Final[Nanos] = 40 * MILLISECOND
"""Time after which slices are committed, though more waits. One commit costs as much as handling a
dozen lines; of a few hundred lines each carries next to nothing of it."""

DISK_RETRY: Final = (1.0, 10.0)
"""Seconds to wait after the disk refused: the first time, and at most."""

STAGING: Final = (values.StageSnapshot, values.DropSnapshot)
"""Records of snapshots on their way."""


class Releaser(Protocol):
    """Carries out what a commit allows."""

    def carry_out(
        self, channel: ChannelId, effect: values.Effect, loaded: dict[MessageId, Loaded]
    ) -> None:
        """Do one effect; `loaded` has the stored messages that the batch needs."""

    def announce(self, peer: PeerId, payload: bytes) -> None:
        """Send a peer an announcement of author logs, whose counter is committed."""

    def send(self) -> None:
        """Send what effects have queued so far; more of the same commit follow."""

    def flush(self) -> None:
        """Send what the effects of one commit queued: that was all of them."""

    def refused(self, who: str, reason: str) -> None:
        """Somebody sent something that it must not."""

    def notify(self, notice: Notice) -> None:
        """Tell the person."""

    def begin_anew(self) -> None:
        """The machines were made anew: their sessions are gone."""

    def begin_anew_in(self, channel: ChannelId) -> None:
        """The same of one channel's machines."""

    def staged(self, record: values.StageSnapshot | values.DropSnapshot) -> None:
        """A page of a snapshot is committed, or all of them are gone: show it."""

    def swapped(self, channel: ChannelId) -> None:
        """A channel has a history that it had not before: show it."""


class Engine:
    """See the module docstring."""

    def __init__(self, runner: Runner, journal: Journal, clock: Clock, releaser: Releaser) -> None:
        self.runner = runner
        self.longest_slice: Nanos = 0
        """Of those that this engine has kept the loop for."""
        self._watch = Watch()
        self.keys = KeyPriority(clock)
        """Is told of the keys of a person."""
        self._checks = EarlyChecks(runner, clock, self.keys.stand_aside)
        self._journal = journal
        self._clock = clock
        self._releaser = releaser
        self._wake = asyncio.Event()
        self._calm = asyncio.Event()
        self._turned = asyncio.Event()
        """Set whenever the inputs of a turn are done with."""
        self._released = 0
        """Number of inputs taken whose effects are out, or that have not happened."""
        self._taken_up: set[ChannelId] = set()
        """Channels that were taken up once: they are on the screen."""
        self._ill = False
        self._meanwhile = Newest()
        """Inputs of peers that came while the disk refused, and are not told again."""
        self._is_stale = False
        self._begun: Batch | None = None
        """That with which machines began that were made anew, for the next commit."""
        self._own = OwnInputs()
        self._retry = DISK_RETRY[0]
        """Seconds to wait after the disk refuses the next time."""

    # --- Feeding -------------------------------------------------------------------------------

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to a channel's machines."""
        if self._ill and (fate := RULES[type(event)].ill) is not Ill.WAITS:
            if fate is not Ill.LET_GO:
                self._meanwhile.keep(Addressed(channel, event))
            return
        self.runner.queue_input(channel, event)
        self._wake.set()

    def begin_anew(self) -> None:
        """Make all machines anew from the disk, before anything else is handled: it was mended."""
        self._is_stale = True
        self._wake.set()

    def wake(self) -> None:
        """Turn soon: something was given to the runner directly."""
        self._wake.set()

    async def submit(
        self,
        channel: ChannelId,
        kind: int,
        body: bytes,
        about: tuple[HistoryEntry, ...] = (),
        replaces: MessageId | None = None,
    ) -> MessageId:
        """Write a message, about messages that are here; returns once it is committed.

        Raises:
            LocalError: the disk refused it, too much waits already, or it is no channel of ours.
        """
        together = Together()
        self._queue_write(channel, together, kind, body, about, replaces)
        [outcome] = await together.outcomes()
        if isinstance(outcome, ChatError):
            raise outcome
        return outcome

    async def submit_all(
        self, channel: ChannelId, kind: int, bodies: Sequence[bytes]
    ) -> Sequence[Outcome]:
        """Write messages, in order; returns what became of each, once that is known of all."""
        together = Together()
        for body in bodies:
            try:
                self._queue_write(channel, together, kind, body)
            except LocalError as error:
                together.add(error)
        return await together.outcomes()

    def _queue_write(
        self,
        channel: ChannelId,
        together: Together,
        kind: int,
        body: bytes,
        about: tuple[HistoryEntry, ...] = (),
        replaces: MessageId | None = None,
    ) -> None:
        """Queue a message, as one of several that somebody waits for.

        Raises:
            LocalError: as `submit`.
        """
        token = self._token_in(channel)
        self.runner.queue_input(channel, values.Write(token, kind, body, about, replaces))
        self._own.expect_write(token, together)
        self._wake.set()

    def _token_in(self, channel: ChannelId) -> int:
        """Return a token for an own input in a channel.

        Raises:
            LocalError: it is no channel of ours, or the engine has ended.
        """
        if channel not in self.runner.groups:
            raise LocalError(LEFT)
        return self._own.new_token()

    def written(self, token: int, message_id: MessageId) -> None:
        """An own message is committed."""
        self._own.settle_write(token, message_id)

    async def act(self, channel: ChannelId, op: Op) -> OpId:
        """Govern: sign an op at the heads of now; returns its id once it is committed.

        Raises:
            LocalError: we may not, the disk refused it, or it is no channel of ours.
        """
        token = self._token_in(channel)
        self.runner.queue_input(channel, values.Act(token, op))
        future: asyncio.Future[OpId] = self._own.expect(token)
        self._wake.set()
        return await future

    def acted(self, token: int, op: OpId) -> None:
        """An op of ours is committed."""
        self._own.settle(token, op)

    async def set_state(
        self,
        channel: ChannelId,
        kind: values.StateKind,
        content: values.Content | None,
        name: bytes,
    ) -> None:
        """Set a register of ours, or take it back; returns once it is committed.

        Raises:
            LocalError: we may not, the disk refused it, or it is no channel of ours.
        """
        token = self._token_in(channel)
        self.runner.queue_input(channel, values.SetState(token, kind, content, name))
        future: asyncio.Future[None] = self._own.expect(token)
        self._wake.set()
        await future

    def state_set(self, token: int) -> None:
        """A register of ours is committed."""
        self._own.settle(token, None)

    async def breathe(self, peer: PeerId, *, transfers: bool = False) -> None:
        """Return when there is room for more from `peer`: on its link, or of what it transfers."""
        while self.runner.inputs.is_crowded_by(peer, transfers=transfers) and not self._ill:
            self._calm.clear()
            await self._calm.wait()

    async def breathe_session(self, session: values.SessionId) -> None:
        """Return when there is room for another payload of a session."""
        while self.runner.inputs.is_crowded_by_session(session) and not self._ill:
            self._calm.clear()
            await self._calm.wait()

    async def settled(self) -> None:
        """Return when everything fed so far is committed and released, or the engine has ended.

        What comes meanwhile is not waited for: while peers go on sending, there is always more.
        """
        inputs = self.runner.inputs
        fed = inputs.taken + len(inputs) + len(self._meanwhile)
        while not self._own.is_over and (self._own or not self._has_released(fed)):
            self._turned.clear()
            self._wake.set()
            await self._turned.wait()

    def _done_with(self, taken: int) -> None:
        """Note that nothing more comes of the first inputs, so many of all that were taken."""
        self._released = taken
        self._turned.set()

    def _has_released(self, fed: int) -> bool:
        """Return whether so many inputs are done with, or all there were: some may be dropped."""
        inputs = self.runner.inputs
        rest = inputs or self._meanwhile
        return self._released >= fed or (self._released >= inputs.taken and not rest)

    # --- Turning -------------------------------------------------------------------------------

    async def turn_forever(self) -> None:
        """Handle, commit, release; sleep until the next input or deadline."""
        self._watch = watch_of_loop()
        self._watch.begin()
        try:
            while True:
                await self._rest()
                await self._turn_once()
        finally:
            self._checks.close()
            self._own.end()
            self._turned.set()

    async def _turn_once(self) -> None:
        """Handle what waits, commit it, and release it."""
        if self._is_stale:
            self._is_stale = False
            await self._rebuild()
        batch = await self._gather()
        groups, taken = self.runner.groups, self.runner.inputs.taken
        swapping = [groups[channel] for channel in batch.swaps if channel in groups]
        self._report(batch)
        self._checks.begin(hurried=self._is_hurried)  # while it is committed
        try:
            if batch.records:
                tell_looks(batch, await self._journal.commit(batch.records))
            else:
                await self.keys.breathe()  # the screen first, here too: a payload takes a while
        except StorageError as error:
            self._done_with(taken)
            await self._undo(batch, error, self._retry)
            self._retry = min(self._retry * 2, DISK_RETRY[1])
        else:
            await self._release(batch)
            self._done_with(taken)
            self._tell_staged(batch)
            for group in swapping:
                await self._swap(group)
            if batch.begin_anew:
                await self._rebuild()
            self._retry = DISK_RETRY[0] if batch.records else self._retry
        self._let_in()
        await self.keys.breathe()

    async def _gather(self) -> Batch:
        """Handle what waits in slices, with a breath of the loop between them, for one commit.

        Only what waits already joins it, so one line by itself is committed at once. Meanwhile all
        may happen that may happen while a batch is committed.
        """
        until = self._clock.now() + GROUP
        batch, self._begun = self._begun or Batch(), None
        await self._check()
        self._turn(batch)
        while self._goes_on(batch) and self._clock.now() < until:
            self._let_in()
            await self.keys.breathe()
            await self._check()
            self._turn(batch)
        return batch

    async def _check(self) -> None:
        """Have what comes next checked, if it is much."""
        if not self._checks.is_ahead:
            await self._checks.check(hurried=self._is_hurried)

    @property
    def _is_hurried(self) -> bool:
        """True while somebody types, or waits for a line."""
        return self.runner.has_own or self.keys.is_hurried

    def _let_in(self) -> None:
        """Wake whoever waits for room, where there is some."""
        if not self.runner.inputs.crowded:
            self._calm.set()

    def _goes_on(self, batch: Batch) -> bool:
        """Return whether another slice joins a batch: one without records waits for no disk."""
        return bool(batch.records) and batch.is_open and self.runner.busy and not self._is_stale

    def _turn(self, batch: Batch) -> None:
        """Handle what waits, for a slice at most, as part of a batch."""
        began, first = self._clock.now(), len(batch.inputs)
        self.runner.turn(began, lambda: self.keys.is_spent(began), batch)
        added = batch.inputs[first:]
        restored = {one.channel for one in added if type(one.event) is values.Restored}
        if restored - self._taken_up:
            self._taken_up |= restored
            self._watch.leave_out()  # when a channel is taken up, nothing of it is on the screen
        else:
            self._measure(began)

    @property
    def longest_block(self) -> Nanos:
        """The longest time for which the loop was kept, by whatever it ran; this engine's at least.

        All that is not ours is known in a `WatchedLoop` alone.
        """
        return max(self.longest_slice, self._watch.longest)

    def _measure(self, began: Nanos) -> None:
        """Note how long the event loop was kept."""
        self.longest_slice = max(self.longest_slice, self._clock.now() - began)

    async def _rest(self) -> None:
        """Wait for an input or a deadline."""
        self._wake.clear()
        if self.runner.busy or self._is_stale or self._begun is not None:
            return
        due = self.runner.deadline()
        timeout = None if due is None else max(0, due - self._clock.now()) / SECOND
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._wake.wait()

    def _report(self, batch: Batch) -> None:
        """Inputs that changed nothing: count what peers did, tell the person what they did."""
        for failure in batch.failures:
            event = failure.event
            if isinstance(event, OWN):
                self._own.fail(event, failure.error)
            elif isinstance(failure.error, RemoteError):
                self._releaser.refused(getattr(event, "peer", "somebody"), str(failure.error))
            else:
                self._releaser.notify(Notice(str(failure.error), Level.ERROR))

    async def _undo(self, batch: Batch, error: StorageError, wait: float) -> None:
        """Nothing of `batch` happened: say so, and begin anew from what the disk holds."""
        self._ill = True
        self._calm.set()
        self._releaser.notify(Notice(str(error), Level.ERROR))
        for addressed in batch.inputs:
            if isinstance(addressed.event, OWN):
                self._own.fail(addressed.event, error)
        self._releaser.begin_anew()
        await self._rebuild()  # at once: what did not happen is not shown meanwhile either
        self._begin_machines()
        self._ill = True
        await asyncio.sleep(wait)
        self._releaser.begin_anew()  # streams that peers opened meanwhile
        self._get_well()

    def _begin_machines(self) -> None:
        """Have machines made anew know the history and who is linked, before the disk is tried.

        The screen shows that at once; what they want done waits for the next commit.
        """
        began = self._clock.now()
        self._begun = self.runner.begin(began)
        self._measure(began)

    async def _rebuild(self) -> None:
        """Make all machines anew from what the disk holds; meanwhile, take nothing from peers."""
        self._ill = True
        self._begun = None  # of machines that are gone
        states = {
            channel: await self.patiently(partial(self._journal.restore, channel))
            for channel in list(self.runner.groups)
        }
        self._releaser.begin_anew()  # also streams that peers opened meanwhile
        self.runner.rebuild(states)
        self._get_well()

    def _get_well(self) -> None:
        """Take from peers again, and first what was kept of them."""
        self._ill = False
        self.runner.inputs.add_again(self._meanwhile.take_all())

    def _tell_staged(self, batch: Batch) -> None:
        for record in batch.records:
            if isinstance(record, STAGING):
                self._releaser.staged(record)

    async def _swap(self, group: Group) -> None:
        """Make the staged snapshot of a channel its history, and its machines anew from that.

        What peers send meanwhile waits, as far as there is room; for a line of ours the swap stands
        aside, and all that waits has its turn with it. Where the disk refuses, the pages stay, and
        are tried again when the machines are made anew.
        """
        channel = group.channel
        if self.runner.groups.get(channel) is not group:
            return  # left, or made anew meanwhile, which begins the swap anew
        swap = self._journal.swap(channel, group.begin_replay(self._clock.now()))
        try:
            while not await swap.go_on(lambda: self.runner.has_own):
                await self._turn_once()
                if self.runner.groups.get(channel) is not group:
                    return
        except StorageError as error:
            self._releaser.notify(Notice(str(error), Level.ERROR))
        state = await self.patiently(partial(self._journal.restore, channel))
        self._releaser.begin_anew_in(channel)
        self.runner.rebuild({channel: state})
        self._releaser.swapped(channel)

    async def patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """Return what `read` reads, however long the disk refuses."""
        wait = DISK_RETRY[0]
        while True:
            try:
                return await read()
            except StorageError as error:
                self._releaser.notify(Notice(str(error), Level.ERROR))
            await asyncio.sleep(wait)
            wait = min(wait * 2, DISK_RETRY[1])

    async def _release(self, batch: Batch) -> None:
        """Carry out what the commit allows, in order and in slices, whose frames go together."""
        needed = [_needed(release.effect) for release in batch.releases]
        loaded = await self._load(batch, needed)
        began = self._clock.now()
        for release, message_id in zip(batch.releases, needed, strict=True):
            if message_id is None or message_id in loaded:  # what is damaged is given to nobody
                self._releaser.carry_out(release.channel, release.effect, loaded)
            if self.keys.is_spent(began):
                self._releaser.send()
                self._measure(began)
                await self.keys.breathe()
                began = self._clock.now()
        for told in batch.announcements:
            self._releaser.announce(told.peer, told.payload)
        self._releaser.flush()
        self._measure(began)

    async def _load(
        self, batch: Batch, needed: Sequence[MessageId | None]
    ) -> dict[MessageId, Loaded]:
        """Return the stored messages that releases need; those of this very batch are here."""
        loaded: dict[MessageId, Loaded] = {}
        if any(needed):
            loaded = just_stored(batch.records, {one for one in needed if one is not None})
        wanted: dict[ChannelId, list[MessageId]] = {}
        for release, message_id in zip(batch.releases, needed, strict=True):
            if message_id is not None and message_id not in loaded:
                wanted.setdefault(release.channel, []).append(message_id)
        for channel, ids in wanted.items():
            # What is committed must be released: another try, not another history.
            loaded |= await self.patiently(partial(self._journal.load, channel, ids))
        return loaded


def _needed(effect: values.Effect) -> MessageId | None:
    """Return which stored message it takes to carry out an effect."""
    # Asked of every effect of every message: a match would ask each of its patterns in turn.
    if isinstance(effect, values.BroadcastStored):
        return effect.message_id
    if isinstance(effect, values.Deliver) and effect.entry is None:
        return effect.message_id
    return None
