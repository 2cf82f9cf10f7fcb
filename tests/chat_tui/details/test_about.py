"""The details of one message in words, over simulated scenes."""

import re

import pytest
from msgspec.structs import replace

from chat_tui.client.simulated import SimulatedChat
from chat_tui.client.trust_book import TrustBook
from chat_tui.details.facts import Known, Way, know, read
from chat_tui.details.frames import Role
from chat_tui.details.raw import raw_lines
from chat_tui.details.sections import as_text, ordinal, parts
from chat_tui.details.timeline import lateness
from chat_tui.wording.glyphs import ASCII
from sync.entries.identity import short_fingerprint
from sync.group.values import Damaged
from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos
from sync.sds.message import Delivery
from sync.sds.parameters import LAN
from sync.sds.repair import Window
from sync.view.state_infos import ReadInfo
from tests.support.chat_tui import scenes, stories
from tests.support.chat_tui.scenes import ALICE, BOB, CAROL, Scene

pytestmark = pytest.mark.usefixtures("in_utc")


@pytest.fixture(scope="module")
def repaired() -> Scene:
    with scenes.utc():
        return stories.repaired()


@pytest.fixture(scope="module")
def morning() -> Scene:
    with scenes.utc():
        return scenes.morning()


def part(known: Known, label: str) -> str:
    """All lines of one part."""
    found = [one for one in parts(known) if one.label == label]
    return "\n".join(said.text for one in found for said in one.lines)


async def test_an_author_whose_knowledge_goes_back_is_flagged(repaired: Scene) -> None:
    known = await stories.known(repaired, stories.LOST)
    assert known.disk.stored is not None
    flagged = replace(known.disk, stored=replace(known.disk.stored, goes_back=True))

    assert "signed it as if not knowing" not in part(known, "In short")
    assert "signed it as if not knowing" in part(replace(known, disk=flagged), "In short")


# -- a message of somebody else --------------------------------------------------------------------


async def test_a_repaired_message_tells_its_whole_story(repaired: Scene) -> None:
    known = await stories.known(repaired, stories.LOST)
    history = part(known, "History")
    answerer = known.name(known.arrival.peer)

    assert known.arrival.way is Way.REPAIRED
    assert part(known, "").endswith(f"7 s late, repaired by {answerer}")
    assert "lost on the way, fetched again from " + answerer in part(known, "In short")
    assert part(known, "Order").startswith(f"Lamport {known.line.lamport}, 2nd of 3 this minute")
    said = [
        "noticed missing, named by ",
        "asked for by you in SYNC ",
        f"received from {answerer}, the answer to a repair request",
        "delivered: it has its place here",
        "named by you in SYNC ",
    ]
    assert [history.index(one) for one in said] == sorted(history.index(one) for one in said)


async def test_t_req_and_t_resp_are_those_of_the_engine(repaired: Scene) -> None:
    known = await stories.known(repaired, stories.LOST)
    assert known.info is not None
    assert known.info.repair is not None
    assert known.arrival.peer is not None
    [noticed] = [one.noticed for one in known.story.happenings if one.noticed is not None]
    window = Window.of(LAN, known.info.repair.participants)
    request = window.request_delay(known.snapshot.me, known.line.message_id)
    answer = window.answer_delay(known.arrival.peer, known.line.author, known.line.message_id)
    [asked] = known.sent(Role.ASKS)

    assert noticed.t_req is not None
    assert asked.at - noticed.t_req < 300 * MILLISECOND
    assert f"T_req {request / SECOND:.3f} s = 1.000 s + hash(me, id) mod 5.000 s" in as_text(known)
    assert f"{answer / SECOND:.3f} s, by the size of the group" in part(known, "History")
    assert "distance · hash(id) mod T_max" in part(known, "History")


async def test_causal_history_stands_with_who_and_marks(repaired: Scene) -> None:
    known = await stories.known(repaired, stories.LOST)

    assert "alice ● received  who goes to room 2?" in part(known, "Before it")
    after = part(known, "After it")
    assert "dave ● here  and the long cable, I am off now" in after
    assert "alice ● received  I bring both" in after
    ascii_only = [said.text for one in parts(known, ASCII) for said in one.lines]
    assert any("alice + received" in text for text in ascii_only)


async def test_a_late_joiner_got_it_by_comparing_histories() -> None:
    known = await stories.known(stories.late_joiner(), "three")

    assert known.arrival.way is Way.PUSHED
    assert part(known, "").endswith("24 s late, pushed by bob")
    assert "when your histories were compared" in part(known, "In short")
    assert "received from bob, who pushed it" in part(known, "History")


async def test_a_message_that_came_straight_says_so() -> None:
    scene = Scene("alice", "bob")
    scene.world.run(6 * SECOND)
    scene.say(BOB, "hello")
    known = await stories.known(scene, "hello")

    assert known.arrival.way is Way.STRAIGHT
    assert "ms later" in part(known, "")
    assert part(known, "In short") == "It came straight from bob."


async def test_what_is_missing_before_it_and_after_a_gap_is_said(morning: Scene) -> None:
    gap = await stories.known(morning, "page 7, my laptop")

    assert "dave ✗ missing, given up as lost" in part(gap, "Before it")
    assert "Something it builds on could not be found" in part(gap, "In short")
    assert "although something before it could not be found" in part(gap, "History")


async def test_what_is_sought_before_it_has_its_t_req() -> None:
    scene = scenes.repairing()
    [info] = scene.snapshot().channels
    held = info.waiting[0].message_id
    [line] = scene.chat._view.history.held_back([held])
    known = know(scene.chat, line, await read(scene.chat.history, line))

    assert "missing, T_req " in part(known, "Before it")


async def test_before_the_start_nothing_is_made_up() -> None:
    scene = Scene("alice", "bob")
    scene.world.run(6 * SECOND)
    scene.say(BOB, "long ago")
    scene.world.run(10 * MINUTE)
    late = SimulatedChat(scene.world, ALICE, ("alice", "bob"))
    [line] = await late.history.page(scene.world.channel, before=None, limit=9)
    node = scene.world.nodes[ALICE]
    assert node.tap is not None
    node.tap._frames.clear()

    known = know(late, line, await read(late.history, line))

    assert known.arrival.way is Way.UNKNOWN
    assert "when it came is not kept" in part(known, "")
    assert "how it came was not kept" in part(known, "In short")
    assert "Not kept: it is from before" in part(known, "History")


# -- an own message --------------------------------------------------------------------------------


async def test_an_acknowledged_message_says_who_named_it_where(repaired: Scene) -> None:
    known = await stories.known(repaired, "I bring both")
    history = part(known, "History")

    assert known.line.delivery is Delivery.ACKNOWLEDGED
    assert part(known, "In short").endswith("has it for certain.")
    assert "sent to whoever was connected" in history
    assert "in SYNC " in history
    assert ": that acknowledges it" in history
    assert "bob unknown" in part(known, "Who has it")


async def test_who_says_to_have_read_it_is_not_unknown_among_who_has_it(repaired: Scene) -> None:
    known = await stories.known(repaired, "I bring both")
    assert known.info is not None
    bob = next(one.peer for one in known.snapshot.peers if one.nick == "bob")
    reads = (ReadInfo(bob, *known.line.position),)
    info = replace(known.info, state=replace(known.info.state, reads=reads))

    who = part(replace(known, info=info), "Who has it")

    assert "bob (says to have read up to here)" in who
    assert "bob unknown" not in who


async def test_a_possibly_acknowledged_message_has_the_chance_and_its_formula(
    morning: Scene,
) -> None:
    known = await stories.known(morning, "I'll ask dave")
    [info] = morning.snapshot().channels
    assert info.bloom is not None
    who = part(known, "Who has it")

    assert "Maybe bob has it: a filter hints at that" in part(known, "In short")
    assert "bob ◐ (filter: maybe, wrong in" in who
    assert f"(1 - e^(-{info.bloom.hashes}·{info.bloom.count:,}/{info.bloom.bits:,}))" in who
    assert "4 (maybe received)" in part(known, "Next")


async def test_a_failed_message_tells_each_resend(morning: Scene) -> None:
    known = await stories.known(morning, "hello? is anybody")
    history = part(known, "History")

    assert [f"resend {number}," in history for number in (1, 5, 6)] == [True, True, False]
    assert "given up sending" in history
    assert "/resend tries again" in part(known, "In short")


async def test_a_message_nobody_hears_says_when_it_goes_out() -> None:
    known = await stories.known(scenes.alone(), "switch")

    assert "it goes out when somebody appears" in part(known, "In short")
    assert part(known, "Next").startswith("it goes out again when somebody appears")


# -- edited, deleted, reacted ----------------------------------------------------------------------


async def test_an_edited_message_tells_all_its_texts_and_who_reacted() -> None:
    known = await stories.known(await stories.changed(), "four")
    edited = part(known, "Edited")

    assert edited.splitlines()[0] == "first: the demo is at two"
    assert "changed to: the demo is at three" in edited
    assert "changed to: the demo is at four" in edited
    assert part(known, "Reactions") in {"👍 carol and you", "👍 you and carol"}
    assert part(known, "In short").endswith("Its author changed it since.")
    assert "(edits)" in part(known, "After it")


async def test_what_was_deleted_is_nowhere_to_be_read() -> None:
    known = await stories.known(await stories.changed(deleted=True), "")
    said = as_text(known) + "\n".join(raw_lines(known))

    assert "the demo" not in said
    assert "Deleted: by its author at " in said
    assert "the author deleted this message" in said


async def test_what_says_that_a_message_is_deleted_may_be_damaged_itself() -> None:
    scene = await stories.changed(deleted=True)
    world = scene.world
    [*_, (_, redaction)] = world.nodes[ALICE].disk.log()
    world.partition({ALICE}, {BOB, CAROL})
    world.rot(ALICE, [redaction])
    world.give(ALICE, Damaged((redaction,)))
    world.run(5 * SECOND)
    said = as_text(await stories.known(scene, ""))

    assert "the demo" not in said
    assert "Deleted: by its author; what says so is damaged on this disk, and fetched again" in said


async def test_whoever_shares_a_name_has_the_key_beside_it_everywhere(repaired: Scene) -> None:
    known = await stories.known(repaired, "long cable")
    shared = frozenset({"dave", "bob"})
    known = replace(known, snapshot=replace(known.snapshot, shared_names=shared))
    said = as_text(known)
    lost = await stories.known(repaired, stories.LOST)
    lost = replace(lost, snapshot=replace(lost.snapshot, shared_names=shared))

    alone = re.compile(r"\b(dave|bob)\b(?! [0-9A-F]{4}-[0-9A-F]{4}|, key )")
    assert "dave " in said
    assert alone.findall(said) == []
    assert alone.findall(as_text(lost)) == []


async def test_before_and_after_a_message_namesakes_have_their_keys(repaired: Scene) -> None:
    known = await stories.known(repaired, "I bring both")
    [*others, node] = known.disk.parents
    alike = replace(node, nick="alice")
    known = replace(known, disk=replace(known.disk, parents=(*others, alike)))

    assert node.author != known.line.author
    assert node.author is not None
    assert f" alice {short_fingerprint(node.author)} " in part(known, "Before it")


# -- bytes -----------------------------------------------------------------------------------------


async def test_bytes_and_signature_are_of_what_is_stored(repaired: Scene) -> None:
    known = await stories.known(repaired, stories.LOST)
    assert known.disk.stored is not None
    size = len(known.disk.stored.payload)

    assert f"{size:,} on the wire as first received · {size:,} stored" in part(known, "Bytes")
    assert part(known, "Signature").startswith("ok (dave, key ")
    assert part(known, "Signature").endswith(", first seen)")
    raw = raw_lines(known)
    assert raw[0] == "SDS message, content"
    assert any(stories.LOST in one for one in raw)
    assert any(one.startswith("0000  0a 40") for one in raw)


async def test_trust_in_the_author_is_said(repaired: Scene) -> None:
    known = await stories.known(repaired, stories.LOST)
    await repaired.chat.people.verify(known.line.author)
    try:
        again = await stories.known(repaired, stories.LOST)
    finally:
        repaired.chat.people.book = TrustBook(known.snapshot.me)

    assert part(again, "Signature").endswith(", verified)")


async def test_a_long_text_stands_whole_at_the_end() -> None:
    scene = Scene("alice", "bob")
    scene.world.run(6 * SECOND)
    scene.say(BOB, "\n".join(f"part {number}" for number in range(400)))
    known = await stories.known(scene, "part 399")

    assert "in 400 lines, all of it at the end" in part(known, "Text")
    assert part(known, "All of it").splitlines()[-1] == "part 399"


@pytest.mark.parametrize(
    ("late", "words"),
    [
        (3 * MILLISECOND, "3 ms later"),
        (46 * SECOND, "46 s late"),
        (-5 * SECOND, "5.000 s before it was written, by clocks that differ"),
    ],
)
def test_lateness(late: Nanos, words: str) -> None:
    assert lateness(MINUTE, MINUTE + late) == words


@pytest.mark.parametrize(
    ("number", "word"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (22, "22nd")],
)
def test_ordinal(number: int, word: str) -> None:
    assert ordinal(number) == word
