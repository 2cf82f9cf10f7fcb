"""From one person's keyboard to another one's screen, over loopback and two real disks."""

import asyncio
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from storage.profile.profile import Profile
from tests.bench.programs import Program, Programs
from tests.bench.report import Params, Result, at_least, at_most, progress, quantile
from tests.support.processes import Person, free_port
from tests.support.storage.stores import delivered, opened
from tests.support.sync.entries import Author

START_WITHIN_S: Final = 30.0
ARRIVE_WITHIN_S: Final = 30.0

COMMITS: Final = 200
WARM_UP: Final = 50
SINGLE: Final = 300
PAUSE_S: Final = 0.01
"""Between single lines: both programs have finished with the last one by then."""

PLAIN_P50_MS: Final = 5.0
PLAIN_P99_MS: Final = 10.0

TYPED: Final = 100
TYPED_WARM_UP: Final = 5
REST_S: Final = 0.12
"""Longer than the rest between two paints: what is measured is one line among people."""

SCREENS_MEET_S: Final = 2.0
"""From the first screen to both being on the network and connected."""

SCREEN_P50_MS: Final = 15.0
SCREEN_P99_MS: Final = 30.0

SUSTAINED: Final = 20_000
"""Ten seconds at the rate that is aimed for."""

RATE_AIM: Final = 2_000.0
STEADY_RATE: Final = 1_000
STEADY_S: Final = 10
STEADY_P99_MS: Final = 25.0


def commit_ms(place: Path) -> float:
    """Median time of committing one message here, in ms: what no program can go below."""

    async def measure() -> list[float]:
        author = Author("bob")
        async with opened(place / "commits.db") as store:
            took = []
            for number in range(COMMITS):
                records = delivered(author.write(f"line {number}"))
                began = time.perf_counter()
                await store.journal.commit(records)
                took.append(time.perf_counter() - began)
            return took

    return quantile(asyncio.run(measure()), 0.5) * 1000


def plain_latency(place: Path) -> Iterator[Result]:
    """One line at a time: from alice's standard input to bob's standard output."""
    commit = commit_ms(place)
    with Programs() as programs:
        alice, bob = plain_pair(programs, place)
        took_ms = [
            one_line(programs, alice, bob, f"single {number} ends") * 1000
            for number in range(-WARM_UP, SINGLE)
        ][WARM_UP:]
        others = programs.others
    params: Params = {"lines": SINGLE, "commit_p50_ms": round(commit, 3), "others": others}
    for name, share, aim in (("p50", 0.5, PLAIN_P50_MS), ("p99", 0.99, PLAIN_P99_MS)):
        goal = aim + 2 * commit
        yield at_most(f"plain_latency_{name}", quantile(took_ms, share), "ms", goal, params)


def one_line(programs: Programs, alice: Program, bob: Program, text: str) -> float:
    """Return the seconds from typing `text` to its arrival; then both get time to finish."""
    since = bob.chunk_count
    began = time.perf_counter()
    programs.feed(alice, f"{text}\n".encode())
    arrived = programs.wait_for(bob, text.encode(), since=since, within_s=ARRIVE_WITHIN_S)
    programs.run(PAUSE_S)
    return arrived - began


def plain_rate(place: Path) -> Iterator[Result]:
    """As many lines as alice takes, until bob has shown all."""
    with Programs() as programs:
        alice, bob = plain_pair(programs, place)
        warm_up(programs, alice, bob)
        progress(f"{SUSTAINED} lines at once ...")
        began = time.perf_counter()
        texts = [f"sustained {number}" for number in range(SUSTAINED)]
        programs.feed(alice, "".join(f"{text}\n" for text in texts).encode())
        times = arrivals(programs, bob, texts, within_s=SUSTAINED / RATE_AIM * 10)
        rate = SUSTAINED / (max(times) - began)
        params: Params = {"lines": SUSTAINED, "others": programs.others}
    yield at_least("plain_rate", rate, "messages/s", RATE_AIM, params)


def plain_latency_at_rate(place: Path) -> Iterator[Result]:
    """A thousand lines a second, each timed from the moment it was due."""
    lines = STEADY_RATE * STEADY_S
    with Programs() as programs:
        alice, bob = plain_pair(programs, place)
        warm_up(programs, alice, bob)
        progress(f"{STEADY_RATE} lines a second for {STEADY_S} s ...")
        texts = [f"steady {number}" for number in range(lines)]
        began = time.perf_counter()
        due = [began + number / STEADY_RATE for number in range(lines)]
        for text, at in zip(texts, due, strict=True):
            programs.run(at - time.perf_counter())
            programs.feed(alice, f"{text}\n".encode())
        times = arrivals(programs, bob, texts, within_s=ARRIVE_WITHIN_S)
        params: Params = {"rate": STEADY_RATE, "seconds": STEADY_S, "others": programs.others}
    took_ms = [(arrived - at) * 1000 for arrived, at in zip(times, due, strict=True)]
    yield Result("plain_latency_at_rate_p50", quantile(took_ms, 0.5), "ms", params=params)
    p99 = quantile(took_ms, 0.99)
    yield at_most("plain_latency_at_rate_p99", p99, "ms", STEADY_P99_MS, params)


def screen_latency(place: Path) -> Iterator[Result]:
    """From alice's Enter to the line on bob's screen: two full-screen chats in terminals.

    Each has a processor of its own.
    """
    commit = commit_ms(place)
    with Programs() as programs:
        alice, bob = screen_pair(programs, place)
        programs.pin()
        progress(f"{TYPED} lines typed ...")
        took_ms = [
            typed_line(programs, alice, bob, f"typed{number}end") * 1000
            for number in range(-TYPED_WARM_UP, TYPED)
        ][TYPED_WARM_UP:]
        others = programs.others
    params: Params = {"lines": TYPED, "commit_p50_ms": round(commit, 3), "others": others}
    for name, share, aim in (("p50", 0.5, SCREEN_P50_MS), ("p99", 0.99, SCREEN_P99_MS)):
        goal = aim + 2 * commit
        yield at_most(f"screen_latency_{name}", quantile(took_ms, share), "ms", goal, params)


def typed_line(programs: Programs, alice: Program, bob: Program, text: str) -> float:
    """Return the seconds from Enter to the line on the other screen, both at rest."""
    since = alice.chunk_count
    programs.feed(alice, text.encode())
    programs.wait_for(alice, text[-1:].encode(), since=since, within_s=ARRIVE_WITHIN_S)
    programs.run(REST_S)
    since = bob.chunk_count
    began = time.perf_counter()
    programs.feed(alice, b"\r")
    painted = programs.wait_for(bob, text.encode(), since=since, within_s=ARRIVE_WITHIN_S)
    programs.run(REST_S)
    return painted - began


def screen_pair(programs: Programs, place: Path) -> tuple[Program, Program]:
    """Start alice and bob with their screens, and wait until a line of hers reaches his."""
    port = free_port()
    started = []
    for name, options in (("alice", ()), ("bob", ("--connect", f"127.0.0.1:{port}"))):
        Profile.open(place / name, name, os.urandom).close()  # so that nothing is asked first
        person = Person(name, place / name)
        own = str(port if name == "alice" else free_port())
        where = ("--name", name, "--interface", "127.0.0.1", "--port", own, "--no-discovery")
        started.append(programs.start_in_terminal(person.command("chat", *where, *options)))
        programs.wait_for(started[-1], b"lobby", since=0, within_s=START_WITHIN_S)
    alice, bob = started
    programs.run(SCREENS_MEET_S)
    programs.feed(alice, b"hello\r")
    programs.wait_for(bob, b"hello", since=0, within_s=START_WITHIN_S)
    return alice, bob


def plain_pair(programs: Programs, place: Path) -> tuple[Program, Program]:
    """Start alice and bob in line mode, connected with each other."""
    port = free_port()
    alice = _start_plain(programs, place, "alice", port)
    there = ("--connect", f"127.0.0.1:{port}")
    bob = _start_plain(programs, place, "bob", free_port(), *there)
    for program in (alice, bob):
        programs.wait_for(program, b'"event": "peer"', since=0, within_s=START_WITHIN_S)
    return alice, bob


def _start_plain(programs: Programs, place: Path, name: str, port: int, *options: str) -> Program:
    person = Person(name, place / name, "127.0.0.1", port)
    program = programs.start_piped(person.plain("--no-discovery", *options))
    programs.wait_for(program, b'"event": "ready"', since=0, within_s=START_WITHIN_S)
    return program


def warm_up(programs: Programs, alice: Program, bob: Program) -> None:
    """Type a few lines first."""
    for number in range(WARM_UP):
        one_line(programs, alice, bob, f"warm-up {number} ends")


def arrivals(programs: Programs, bob: Program, texts: list[str], *, within_s: float) -> list[float]:
    """Return the time at which bob showed each of `texts`, once he has shown all of them."""
    last = json.dumps(texts[-1]).encode()
    programs.wait_for(bob, last, since=0, within_s=within_s)
    shown: dict[str, float] = {}
    for at, line in bob.lines():
        event = json.loads(line)
        if event["event"] == "message":
            assert event["text"] not in shown, f"shown twice: {event['text']}"
            shown[event["text"]] = at
    missing = [text for text in texts if text not in shown]
    assert not missing, f"{len(missing)} did not arrive: {missing[:5]}"
    return [shown[text] for text in texts]
