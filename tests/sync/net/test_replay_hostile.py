"""Whatever is in a file, `replay` ends with a sentence: forged traces and recordings."""

import asyncio
import json
import os
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat_tui.cli.main import cli
from sync.errors import ChatError
from sync.net.trace import Trace
from tests.support.sync.nodes import channel_of, host, meet, until

pytestmark = [pytest.mark.net, pytest.mark.slow]

DEEP: Any = None
for _ in range(900):
    DEEP = [DEEP]

HOSTILE: list[Any] = [
    None, True, 0, -1, 1, 2**31, 2**63, 2**64, 2**64 - 1, -(2**64), 10**30, 10**4000, 1.5, 1e308,
    float("nan"), float("inf"), "", "a", "00", "\ud800", "\x1b]0;title\x07", "ff" * 32, "f" * 63,
    "x" * 10_000, [], {}, [[]], [None],
    {"hex": "zz"}, {"hex": ""}, {"hex": "00" * 300}, {"hex": 5}, {"is": "Tick"}, {"is": []}, DEEP,
]  # fmt: skip


SEEDS = int(os.environ.get("REPLAY_SEEDS", "150"))


async def recorded(directory: Path) -> list[str]:
    """A real trace, by lines: of who lacked something, wrote, and compared histories."""
    channel, _ = channel_of("plans")
    file = directory / "bob.trace"
    async with (
        host(directory, "alice") as alice,
        host(directory, "bob", trace=Trace(file)) as bob,
    ):
        for each in (alice, bob):
            await each.join("plans")
        for number in range(3):
            await alice.write(channel, f"before {number}")
        await meet(alice, bob)
        await until(lambda: len(bob.texts()) == 3, "bob has what was before")
        await bob.write(channel, "fine")
        await until(lambda: "fine" in alice.texts(), "alice reads it")
    return file.read_text().splitlines()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return asyncio.run(recorded(tmp_path_factory.mktemp("recorded")))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A real recording of the demo."""
    file = tmp_path_factory.mktemp("demo") / "demo"
    result = CliRunner().invoke(cli, ["demo", "--plain", "--scenario", "1", "--record", str(file)])
    assert result.exit_code == 0
    return file.read_text().splitlines()


def replay(file: Path, data: bytes) -> str:
    """Replay these bytes; what it said, which must be sentences."""
    file.write_bytes(data)
    result = CliRunner().invoke(cli, ["replay", str(file)])
    failed = result.exception
    if not (failed is None or isinstance(failed, ChatError | SystemExit)):
        raise AssertionError(f"a traceback for {data[-3000:]!r}") from failed
    said = result.output + (str(failed) if isinstance(failed, ChatError) else "")
    assert all(one.isprintable() or one == "\n" for one in said), ascii(said[-3000:])
    return said


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything inside of some JSON."""
    yield path
    inside: Iterable[tuple[Any, object]] = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, below in inside:
        yield from places(below, (*path, key))


def other(value: object, dice: random.Random) -> object:
    """Something of the same kind that nobody recorded; of any kind, now and then."""
    if dice.random() < 0.2:
        return dice.choice(HOSTILE)
    match value:
        case bool():
            return not value
        case int():
            return dice.choice([0, 1, -1, value + 1, value - 1, 2**31, 2**63, 2**64 - 1, -(2**63)])
        case str() if value and set(value) <= set("0123456789abcdef") and len(value) % 2 == 0:
            raw = bytearray.fromhex(value)
            raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
            return dice.choice([raw.hex(), raw.hex()[: len(raw)], raw.hex() * 2, "00" * len(raw)])
        case list():
            return dice.choice([value * 2, value[::-1], value[1:], []])
        case _:
            return value


def changed(lines: list[str], dice: random.Random) -> bytes:
    """Lines of which one to four are other ones, are there twice, are gone or in another place."""
    lines = list(lines)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(1, len(lines))
        what = dice.randrange(8)
        if what == 0:
            lines.insert(dice.randrange(1, len(lines)), lines[at])
        elif what == 1 and len(lines) > 3:
            del lines[at]
        elif what == 2:
            lines.append(lines.pop(at))
        else:
            lines[at] = forged(lines[at], dice)
    return "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass")


def forged(line: str, dice: random.Random) -> str:
    """A line with something else at one place."""
    step = json.loads(line)
    inside, (*above, last) = step, dice.choice([one for one in places(step) if one])
    for key in above:
        inside = inside[key]
    inside[last] = other(inside[last], dice)
    return json.dumps(step)


@pytest.mark.parametrize("which", ["trace", "demo"])
def test_a_real_file_with_forged_values_ends_with_sentences(
    tmp_path: Path, which: str, request: pytest.FixtureRequest
) -> None:
    lines: list[str] = request.getfixturevalue(which)
    for seed in range(SEEDS):
        replay(tmp_path / "forged", changed(lines, random.Random(seed)))


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_bytes_at_random_places_end_with_sentences(
    tmp_path: Path, trace: list[str], data: st.DataObject
) -> None:
    whole = "".join(line + "\n" for line in trace[:20]).encode()
    at = data.draw(st.integers(0, len(whole)))
    junk = data.draw(st.binary(max_size=40))
    replay(tmp_path / "forged", whole[:at] + junk + whole[at + data.draw(st.integers(0, 40)) :])


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "chat-tui demo", "version": ' + b"[" * 100_000,
        b'{"format": "chat-tui demo", "version": 1' + b"0" * 5_000 + b"}",
        b'{"format": "chat-tui demo", "version": "\\ud800\\u001b[2J"}',
        b'{"machine": "runner", "input": {"is": "Began"}}\n' + b'{"a":' * 50_000,
        b"",
    ],
    ids=["bytes", "deep", "deep demo", "huge version", "control characters", "deep trace", "empty"],
)
def test_what_is_no_recording_gets_a_sentence(tmp_path: Path, text: bytes) -> None:
    assert replay(tmp_path / "forged", text)


@pytest.mark.parametrize(
    "make", [lambda path: path.mkdir(), lambda path: __import__("os").mkfifo(path)]
)
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "x")

    result = CliRunner().invoke(cli, ["replay", str(tmp_path / "x")])

    assert result.exit_code
    assert not result.exception or isinstance(result.exception, ChatError | SystemExit)
