"""The floor of two programs: a sender and a receiver over TCP, as fast as they can.

`python -m tests.bench.limits.floor_pair WHO SIGNATURES PLACE COUNT [PORT]`: the receiver prints its
port, then both print when they began and ended and what processor time they took, as JSON.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tests.bench.limits.floor_messages import (
    ROWS_OF_COMMIT,
    SIGNATURES,
    Receiver,
    Sender,
    Signatures,
    Tables,
    print_line,
)
from tests.support.processes import ROOT

KEY: Final = bytes(32)
LENGTH: Final = struct.Struct(">I")
READ_SIZE: Final = 1 << 16
WITHIN_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class FloorPair:
    """Messages a second of two processes, and their processor time a message."""

    rate: float
    sender_us: float
    receiver_us: float


def measure(place: Path, count: int, signatures: str = "openssl") -> FloorPair:
    """Run both for so many messages, in a directory, with one of `SIGNATURES`."""
    receiver = _started("receiver", signatures, str(place), str(count))
    assert receiver.stdout is not None
    port = receiver.stdout.readline().strip()
    sender = _started("sender", signatures, str(place), str(count), port)
    try:
        told = [json.loads(each.communicate(timeout=WITHIN_S)[0]) for each in (sender, receiver)]
    finally:
        for each in (sender, receiver):
            each.kill()
            each.wait()
    took = told[1]["ended"] - told[0]["began"]
    sender_us, receiver_us = [one["cpu_s"] / count * 1e6 for one in told]
    return FloorPair(count / took, sender_us, receiver_us)


def _started(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.bench.limits.floor_pair", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True)


def _send(signatures: Signatures, place: Path, count: int, port: int) -> None:
    sender, tables = Sender(signatures), Tables(place / "sender.db")
    cipher, nonce = ChaCha20Poly1305(KEY), 0
    with (
        socket.create_connection(("127.0.0.1", port)) as there,
        Path(os.devnull).open("w", encoding="utf-8") as out,
    ):
        began, cpu = time.perf_counter(), time.process_time()
        for start in range(0, count, ROWS_OF_COMMIT):
            numbers = range(start, min(start + ROWS_OF_COMMIT, count))
            written = [sender.write(f"sustained {number}") for number in numbers]
            tables.store(written)
            frames = []
            for one in written:
                sealed = cipher.encrypt(_nonce(nonce), one.payload, b"")
                nonce += 1
                frames.append(LENGTH.pack(len(sealed)) + sealed)
                print_line(one, out)
            there.sendall(b"".join(frames))
        _tell(began, cpu)


def _receive(signatures: Signatures, place: Path, count: int) -> None:
    receiver, tables = Receiver(signatures), Tables(place / "receiver.db")
    cipher = ChaCha20Poly1305(KEY)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Path(os.devnull).open("w", encoding="utf-8") as out,
    ):
        print(server.getsockname()[1], flush=True)
        there, _ = server.accept()
        began, cpu = time.perf_counter(), time.process_time()
        batch, done = [], 0
        for number, sealed in enumerate(_frames(there)):
            batch.append(receiver.read(cipher.decrypt(_nonce(number), sealed, b"")))
            if len(batch) == ROWS_OF_COMMIT or done + len(batch) == count:
                tables.store(batch)
                for one in batch:
                    print_line(one, out)
                done += len(batch)
                batch = []
        there.close()
        assert done == count
        _tell(began, cpu)


def _frames(there: socket.socket) -> Iterator[bytes]:
    unread = bytearray()
    while data := there.recv(READ_SIZE):
        unread += data
        start = 0
        while len(unread) - start >= LENGTH.size:
            (size,) = LENGTH.unpack_from(unread, start)
            if len(unread) - start - LENGTH.size < size:
                break
            yield bytes(unread[start + LENGTH.size : start + LENGTH.size + size])
            start += LENGTH.size + size
        del unread[:start]


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "little")


def _tell(began: float, cpu: float) -> None:
    told = {"began": began, "ended": time.perf_counter(), "cpu_s": time.process_time() - cpu}
    print(json.dumps(told), flush=True)


def main() -> None:
    """Be one of the two."""
    who, name, place, count, *port = sys.argv[1:]
    signatures = SIGNATURES[name]()
    if who == "sender":
        _send(signatures, Path(place), int(count), int(port[0]))
    else:
        _receive(signatures, Path(place), int(count))


if __name__ == "__main__":
    main()
