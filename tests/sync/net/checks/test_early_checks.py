"""Messages that wait are checked on threads, and handled in order as if they had not been."""

import asyncio
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sync.entries.identity import verify
from sync.group import values
from sync.group.inputs.foreseen import ForeseeingGate, Verdict
from sync.machine import ChannelId, PeerId
from sync.net.checks import early_checks
from sync.net.checks.early_checks import BOTH_FROM, CHECKED_FROM, LOOKED_AT_MAX
from sync.net.engine import engine as engines
from sync.runner.input_queue import Addressed, InputQueue
from sync.sim.disk import Disk
from tests.support.patience import PATIENCE_S
from tests.support.storage.stores import membership
from tests.support.sync.engines import Bench, turning
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.nodes import until

MAIN = threading.main_thread().name


@dataclass
class Verifier:
    """Notes on which thread each signature is verified, and holds those of other threads up."""

    threads: list[str] = field(default_factory=list)
    goes_on: threading.Event = field(default_factory=threading.Event)
    waits: bool = False

    def __call__(self, peer: PeerId, signature: bytes, data: bytes) -> bool:
        self.threads.append(threading.current_thread().name)
        if self.waits and threading.current_thread() is not threading.main_thread():
            assert self.goes_on.wait(PATIENCE_S)
        return verify(peer, signature, data)

    @property
    def early(self) -> int:
        """Number of signatures verified on threads."""
        return len(self.threads) - self.threads.count(MAIN)


def lines(count: int, author: Author | None = None) -> list[values.StoredMessage]:
    author = author or Author("bob")
    return [author.write(f"heard {number}") for number in range(count)]


def heard(bench: Bench) -> list[str]:
    return [text.rpartition("heard ")[2] for text in bench.released.texts if "heard" in text]


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def gate_of(bench: Bench) -> ForeseeingGate:
    gate = bench.engine.runner.groups[CHANNEL].gate
    assert isinstance(gate, ForeseeingGate)
    return gate


def forged(sent: values.StoredMessage) -> values.Arrived:
    payload = sent.payload.replace(sent.entry.signature, bytes(64))
    return values.Arrived(sent.entry.header.author, payload)


async def all_heard(bench: Bench, count: int) -> None:
    await until(lambda: len(heard(bench)) >= count, "all are let in")
    await bench.engine.settled()


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of verdicts that a gate had whenever it was told one."""
    numbers: list[int] = []
    learn = ForeseeingGate.learn

    def counted(gate: ForeseeingGate, verdict: Verdict) -> None:
        learn(gate, verdict)
        numbers.append(len(gate))

    monkeypatch.setattr(ForeseeingGate, "learn", counted)
    return numbers


async def test_a_burst_is_checked_on_threads_and_let_in_in_order(tmp_path: Path) -> None:
    verifier = Verifier(waits=True)
    async with turning(tmp_path, verify=verifier) as bench:
        bench.hear(*lines(300))
        # A thread that waits for nothing may be done before the other one is woken.
        await until(lambda: verifier.early == 2, "both threads are at it")
        verifier.goes_on.set()
        await all_heard(bench, 300)

        assert heard(bench) == numbers(300)
        assert len(verifier.threads) == 300
        assert MAIN not in verifier.threads[: 300 - CHECKED_FROM]
        assert len(set(verifier.threads) - {MAIN}) == 2


async def test_a_burst_in_one_of_many_channels_looks_at_the_verdicts_of_that_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ForeseeingGate] = []
    keep = ForeseeingGate.keep

    def noted(gate: ForeseeingGate, frames: Collection[bytes]) -> None:
        asked.append(gate)
        keep(gate, frames)

    monkeypatch.setattr(ForeseeingGate, "keep", noted)
    async with turning(tmp_path) as bench:
        for number in range(50):
            channel = ChannelId(f"{number:032x}")
            disk = Disk(Author("alice").peer_id, log_number=1)
            bench.engine.runner.add_channel(membership(channel), disk.restore())
        bench.hear(*lines(2 * LOOKED_AT_MAX))
        await all_heard(bench, 2 * LOOKED_AT_MAX)

        assert asked
        assert all(gate is gate_of(bench) for gate in asked)
        assert len(gate_of(bench)) == 0


async def test_one_thread_checks_a_smaller_burst(tmp_path: Path) -> None:
    verifier = Verifier()
    async with turning(tmp_path, verify=verifier) as bench:
        bench.hear(*lines(BOTH_FROM - 1))
        await all_heard(bench, BOTH_FROM - 1)

        assert len(verifier.threads) == BOTH_FROM - 1
        assert len(set(verifier.threads) - {MAIN}) == 1


async def test_a_few_are_checked_where_they_are_handled(tmp_path: Path) -> None:
    verifier = Verifier()
    async with turning(tmp_path, verify=verifier) as bench:
        bench.hear(*lines(CHECKED_FROM - 1))
        await all_heard(bench, CHECKED_FROM - 1)

        assert verifier.threads == [MAIN] * (CHECKED_FROM - 1)


async def test_a_line_of_ours_that_waits_behind_a_burst_comes_after_it(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        bench.hear(*lines(50))
        [written] = await bench.write("mine")
        await all_heard(bench, 50)

        assert [text.rpartition(" ")[2] for text in bench.released.texts][:50] == numbers(50)
        assert (await bench.stored())[-1] == written


async def test_verdicts_on_so_many_alone_are_in_memory_and_none_at_rest(
    tmp_path: Path, known: list[int]
) -> None:
    async with turning(tmp_path, step=1) as bench:
        bench.hear(*lines(2 * LOOKED_AT_MAX))
        await all_heard(bench, 2 * LOOKED_AT_MAX)

        assert CHECKED_FROM < max(known) <= LOOKED_AT_MAX
        assert len(gate_of(bench)) == 0


async def test_bytes_that_are_looked_at_have_a_limit(
    tmp_path: Path, known: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    burst = lines(100)
    monkeypatch.setattr(early_checks, "BYTES_MAX", 40 * len(burst[0].payload))
    async with turning(tmp_path, step=1) as bench:
        bench.hear(*burst)
        await all_heard(bench, 100)

        assert CHECKED_FROM <= max(known) <= 41


async def test_fewer_are_looked_at_while_somebody_types(tmp_path: Path, known: list[int]) -> None:
    async with turning(tmp_path, step=1) as bench:
        bench.engine.keys.hurry()
        bench.hear(*lines(300))
        await all_heard(bench, 300)

        assert CHECKED_FROM < max(known) <= early_checks.HURRIED_MAX
        assert heard(bench) == numbers(300)


async def test_threads_stand_aside_before_each_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier, aside, goes_on = Verifier(), threading.Event(), threading.Event()

    def stand_aside() -> None:
        aside.set()
        assert goes_on.wait(PATIENCE_S)

    async with turning(tmp_path, verify=verifier) as bench:
        assert bench.engine._checks._stand_aside == bench.engine.keys.stand_aside
        monkeypatch.setattr(bench.engine._checks, "_stand_aside", stand_aside)
        bench.hear(*lines(100))
        assert await asyncio.to_thread(aside.wait, PATIENCE_S)
        early = verifier.early
        goes_on.set()
        await all_heard(bench, 100)

        assert early == 0
        assert verifier.early


async def test_what_waits_for_long_is_looked_at_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at, next_ones = 0, InputQueue.next_ones

    def counted(inputs: InputQueue, most: int) -> Iterator[Addressed]:
        nonlocal looked_at
        for one in next_ones(inputs, most):
            looked_at += 1
            yield one

    monkeypatch.setattr(InputQueue, "next_ones", counted)
    async with turning(tmp_path) as bench:
        bench.hear(*lines(300))
        await all_heard(bench, 300)

        assert len(bench.journal.commits) > 20, "many batches"
        assert 300 <= looked_at < 4 * 300


async def test_forged_lines_in_a_burst_are_refused_by_name_and_the_others_let_in(
    tmp_path: Path,
) -> None:
    bob, eve, verifier = Author("bob"), Author("eve"), Verifier()
    async with turning(tmp_path, verify=verifier) as bench:
        bench.released.refusals = []
        for number in range(60):
            if number % 3 == 0:
                bench.engine.queue_input(CHANNEL, forged(eve.write(f"forged {number}")))
            bench.hear(bob.write(f"heard {number}"))
        await all_heard(bench, 60)

        assert heard(bench) == numbers(60)
        assert len(verifier.threads) == 80
        assert verifier.early > 60
        reason = "the signature is not its author's"
        assert bench.released.refusals == [(eve.peer_id, reason)] * 20


async def test_a_burst_that_the_disk_refuses_is_let_in_when_it_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "DISK_RETRY", (0.001, 0.001))
    verifier, burst = Verifier(), lines(100)
    async with turning(tmp_path, step=1, verify=verifier) as bench:
        bench.journal.refusals = 1
        bench.hear(*burst)
        await until(lambda: bool(bench.released.notices), "the disk refused")
        await until(lambda: not bench.engine._ill, "peers are listened to again")
        assert heard(bench) == []
        assert len(await bench.stored()) == 1
        assert verifier.early > 0

        bench.hear(*burst)
        await all_heard(bench, 100)
        assert heard(bench) == numbers(100)
        assert (await bench.stored())[:100] == [one.entry.message_id for one in burst]


async def test_machines_that_begin_anew_amid_a_check_handle_what_waits_once(
    tmp_path: Path,
) -> None:
    verifier = Verifier(waits=True)
    async with turning(tmp_path, verify=verifier) as bench:
        bench.hear(*lines(50))
        await until(lambda: verifier.early > 0, "threads are at it")
        bench.engine.begin_anew()
        verifier.goes_on.set()
        await all_heard(bench, 50)

        assert heard(bench) == numbers(50)
        assert sum(bench.journal.commits) == 50


async def test_a_channel_that_is_left_amid_a_check_hears_nothing_more(tmp_path: Path) -> None:
    verifier = Verifier(waits=True)
    async with turning(tmp_path, verify=verifier) as bench:
        bench.hear(*lines(50))
        await until(lambda: verifier.early > 0, "threads are at it")
        bench.engine.runner.remove_channel(CHANNEL, bench.engine._clock.now())
        verifier.goes_on.set()
        async with asyncio.timeout(PATIENCE_S):
            await bench.engine.settled()

        assert heard(bench) == []
        assert not bench.turning.done()


async def test_an_end_amid_a_check_waits_for_nothing_and_loses_nothing(tmp_path: Path) -> None:
    verifier = Verifier(waits=True)
    async with turning(tmp_path, verify=verifier) as bench:
        bench.hear(*lines(50))
        await until(lambda: verifier.early > 0, "threads are at it")

        bench.turning.cancel()
        with suppress(asyncio.CancelledError):
            await bench.turning
        assert bench.engine.runner.waiting == 50, "nothing was taken, so a peer has it still"
        assert heard(bench) == []
        verifier.goes_on.set()
        await until(lambda: not _checking(), "the threads end")
        assert verifier.early <= early_checks.THREADS, "none begins another one"


def _checking() -> Sequence[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith("early check")]
