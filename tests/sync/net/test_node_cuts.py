"""Connections of a session that break after so many bytes, on 127.0.0.1: all is tried again.

Between the two nodes stands a wire that forwards what one says to the other, and breaks once.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sync.errors import LocalError
from sync.manager.registry import PROTOCOLS, WITH_STATE
from sync.sessions.protocol import Protocols
from sync.view.view import SyncShown
from tests.support.sync.nodes import HOST, Host, host, texts, until, write_all

pytestmark = [pytest.mark.net, pytest.mark.slow]

LINES = 40
PARTS = (0.02, 0.3, 0.5, 0.8, 0.98)
"""After which share of what a connection carries it breaks."""

PROOFS = frozenset({"reconciled", "equal", "both have the same"})
"""Results of sessions that both sides have proved."""

AT_ONCE = 4
"""Meetings at the same time; the programs choose from a few dozen ports."""

CHUNK = 256


@dataclass
class Wire:
    """Forwards connections to `port`; breaks one, the first from number `breaks` on that carries
    more than `after` bytes: how many there are is for the two to say.
    """

    port: int
    breaks: int | None = None
    after: int = 0
    carried: list[int] = field(default_factory=list)
    """Bytes of each connection, both ways."""
    broken: bool = False

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.carried)
        self.carried.append(0)
        with suppress(ConnectionError), closing(writer):
            there, beyond = await asyncio.open_connection(HOST, self.port)
            with closing(beyond):
                ends = (writer, beyond)
                await asyncio.gather(
                    self._pump(number, reader, beyond, ends),
                    self._pump(number, there, writer, ends),
                )

    async def _pump(
        self,
        number: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter],
    ) -> None:
        try:
            while data := await reader.read(CHUNK):
                if self._breaks(number, len(data)):
                    self.broken = True
                    for end in ends:
                        end.transport.abort()
                    return
                self.carried[number] += len(data)
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    def _breaks(self, number: int, size: int) -> bool:
        return (
            self.breaks is not None
            and number >= self.breaks
            and not self.broken
            and self.carried[number] + size > self.after
        )


@asynccontextmanager
async def wired(wire: Wire) -> AsyncIterator[int]:
    """Let others reach `wire` at a port."""
    tasks: set[asyncio.Task[None]] = set()
    accepted: list[asyncio.StreamWriter] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not server.is_serving():  # it was on its way when the wire ended
            writer.close()
            return
        accepted.append(writer)  # a task that ends before it begins closes nothing
        tasks.add(asyncio.get_running_loop().create_task(wire.forward(reader, writer)))

    server = await asyncio.start_server(accept, HOST, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in accepted:
            writer.close()
        await server.wait_closed()


async def meet_over(
    tmp_path: Path,
    dials: str,
    accepts: str,
    protocols: Protocols,
    breaks: int | None,
    after: int = 0,
) -> Wire:
    """Let two who wrote apart meet over a wire, until both have everything."""
    async with (
        host(tmp_path, dials, "tea", protocols=protocols) as one,
        host(tmp_path, accepts, "tea", protocols=protocols) as other,
    ):
        wire = Wire(other.port, breaks, after)
        for writer in (one, other):
            await write_all(writer, texts(LINES, 200, writer.name[0]))
        async with wired(wire) as port:
            with suppress(LocalError):  # it breaks in the handshake, and is dialled again
                await one.node.mesh.connect(HOST, port)
            await until(lambda: has_all(one) and has_all(other), f"all: {breaks} at {after}")
            await until(lambda: proved(one) and proved(other), f"proof: {breaks} at {after}")
    return wire


def room(tmp_path: Path, name: str) -> Path:
    """A new folder for two."""
    (tmp_path / name).mkdir()
    return tmp_path / name


def has_all(member: Host) -> bool:
    return len(member.texts()) == len(set(member.texts())) == 2 * LINES


def proved(member: Host) -> list[SyncShown]:
    """Sessions that say both hold the same; these have got all they needed."""
    claims = [shown for shown in member.shown(SyncShown) if shown.result in PROOFS]
    assert all(shown.got == shown.need for shown in claims), claims
    return claims


@pytest.mark.parametrize(
    ("dials", "accepts", "protocols"),
    [("alice", "bob", WITH_STATE), ("bob", "alice", PROTOCOLS)],
    ids=["older programs", "handshakes"],
)
async def test_every_connection_may_break_after_any_number_of_bytes(
    tmp_path: Path, dials: str, accepts: str, protocols: Protocols
) -> None:
    whole = await meet_over(room(tmp_path, "whole"), dials, accepts, protocols, None)
    cuts = {  # a short connection has fewer places than there are parts
        (number, int(part * size)) for number, size in enumerate(whole.carried) for part in PARTS
    }

    places = asyncio.Semaphore(AT_ONCE)

    async def meet_cut(number: int, after: int) -> Wire:
        async with places:
            folder = room(tmp_path, f"{number} {after}")
            return await meet_over(folder, dials, accepts, protocols, number, after)

    wires = await asyncio.gather(*(meet_cut(*cut) for cut in cuts), return_exceptions=True)

    assert not [failed for failed in wires if isinstance(failed, BaseException)]
    assert len(cuts) >= 2 * len(PARTS), "at least a link and a transfer"
    assert sum(isinstance(wire, Wire) and wire.broken for wire in wires) >= len(cuts) // 2
