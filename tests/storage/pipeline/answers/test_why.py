"""`why` tells how one message came to each node, or why it did not, from the logs alone."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from storage.pipeline.command import cli
from tests.support.storage.told_logs import Told


def told(*words: str | Path, status: int = 0) -> str:
    """Run `why`; returns what it says."""
    done = CliRunner().invoke(cli, ["why", *map(str, words)])
    assert done.exit_code == status, done.output
    return done.output


def line_of(output: str, name: str) -> str:
    """The last line that begins with a name: what became of the message there."""
    return [line for line in output.splitlines() if line.startswith(name)][-1]


@pytest.fixture
def lost_once(tmp_path: Path) -> tuple[Told, Path]:
    """Alice's message comes to bob; carol lacks it, asks, and bob answers."""
    story = Told("alice", "bob", "carol")
    story.there("alice", "bob", "carol")
    story.note(0, "alice", "sent", bytes=2811)
    story.note(42, "bob", "received", "alice", bytes=2811)
    story.note(42, "bob", "delivered")
    story.note(2000, "carol", "missing", "bob")
    story.note(3000, "carol", "repair requested")
    story.note(3020, "bob", "repair answered", "carol", bytes=928)
    story.note(3060, "carol", "received", "bob", bytes=928)
    story.note(3060, "carol", "delivered")
    story.note(3060, "carol", "repaired", "bob")
    story.note(3061, "alice", "duplicate", "bob", bytes=928)
    return story, story.export(tmp_path / "export", ("alice", "bob", "carol"))


def test_a_loss_that_was_repaired_is_told_hop_by_hop(lost_once: tuple[Told, Path]) -> None:
    story, export = lost_once

    said = told(export, story.id[:8])

    assert story.id in said
    assert "#plans" in said
    alice, bob, carol = (f"{name} ({story.key(name)[:8]})" for name in story.people)
    assert (
        f"{alice} sent it to everybody (2.81 kB): it came to {bob} after 42 ms; "
        f"not to {carol} (lost on the way)"
    ) in said
    assert f"+2 s  {carol} learned from what came from {bob} that it lacks this message" in said
    assert f"+3 s  {carol} asked everybody for it" in said
    assert f"{bob} answered {carol}" in said
    assert f"it came to {carol} after 40 ms; {alice} had it" in said
    assert line_of(said, "bob").endswith("after 42 ms, by the first sending of " + alice)
    assert line_of(said, "carol").endswith(
        f"after 3.06 s, by the answer of {bob} to it, asked for once"
    )


def test_the_story_of_one_node_leaves_out_what_concerns_others(
    lost_once: tuple[Told, Path],
) -> None:
    story, export = lost_once
    story.note(100, "alice", "acknowledged", "bob")

    said = told(export, story.id, "carol")

    assert "asked everybody for it" in said
    assert line_of(said, "carol").endswith("asked for once")
    assert not [line for line in said.splitlines() if line.startswith("bob")]
    assert told(export, story.id, story.key("carol")[:6]) == said, "a key does as well as a name"


def test_a_message_that_nothing_named_was_never_asked_for(tmp_path: Path) -> None:
    story = Told("alice", "bob")
    story.there("alice", "bob")
    story.note(0, "alice", "sent")
    export = story.export(tmp_path / "export", ("alice",))

    said = told(export, story.id, status=1)

    assert line_of(said, "bob").endswith(
        "never: the sending was lost on the way; nothing that came later named it, so it was never "
        "asked for"
    )


def test_a_message_that_was_asked_for_in_vain_was_given_up(tmp_path: Path) -> None:
    story = Told("alice", "bob")
    story.there("alice", "bob")
    story.note(0, "alice", "sent")
    story.note(1000, "bob", "missing", "alice")
    story.note(2000, "bob", "repair requested")
    story.note(9000, "bob", "repair requested")
    story.note(30_000, "bob", "lost")
    export = story.export(tmp_path / "export", ("alice",))

    said = line_of(told(export, story.id, status=1), "bob")

    assert "named after 1 s, asked 2 times, and no log tells of an answer; given up" in said


def test_a_link_that_was_down_is_the_reason(tmp_path: Path) -> None:
    story = Told("alice", "bob", "carol")
    story.there("alice", "bob", "carol")
    story.note(-500, "bob", "link down", "alice", message_id=None)
    story.note(-800, "carol", "link down", "alice", message_id=None)
    story.note(-700, "carol", "link up", "alice", message_id=None)
    story.note(0, "alice", "sent")
    story.note(20_000, "bob", "link up", "alice", message_id=None)
    export = story.export(tmp_path / "export", ("alice",))

    said = told(export, story.id, status=1)

    assert "was down when it was sent" in line_of(said, "bob")
    assert "lost on the way" in line_of(said, "carol"), "its link was up again"


def test_who_came_later_or_had_left_or_was_off_is_told_so(tmp_path: Path) -> None:
    story = Told("alice", "late", "gone", "off")
    story.there("alice")
    story.note(5000, "late", "session round", message_id=None)
    story.note(-5000, "gone", "session round", message_id=None)
    story.note(-5000, "off", "session round", message_id=None)
    story.note(5000, "off", "session round", message_id=None, boot=2)
    story.note(0, "alice", "sent")
    export = story.export(tmp_path / "export", ("alice",))

    said = told(export, story.id, status=1)

    assert "it came later: its log begins 5 s after" in line_of(said, "late")
    assert "it had left: its log ends 5 s before" in line_of(said, "gone")
    assert "it was not running when it was sent" in line_of(said, "off")


def test_a_message_held_back_says_what_it_waits_for(tmp_path: Path) -> None:
    story = Told("alice", "bob")
    story.there("alice", "bob")
    story.note(0, "alice", "sent")
    story.note(40, "bob", "received", "alice")
    story.note(40, "bob", "buffered", "alice")
    export = story.export(tmp_path / "export", ("alice",))
    parent = story.parent.entry.message_id[:8]

    said = told(export, story.id, status=1)

    assert f"held it back, as what it builds on was not all there: {parent} had not come" in said
    assert line_of(said, "bob").endswith(f"never put in its place, waiting for {parent}")


def test_a_message_that_was_held_back_tells_for_how_long(tmp_path: Path) -> None:
    story = Told("alice", "bob")
    story.there("alice", "bob")
    parent = bytes.fromhex(story.parent.entry.message_id)
    story.note(0, "alice", "sent")
    story.note(40, "bob", "received", "alice")
    story.note(40, "bob", "buffered", "alice")
    story.note(1040, "bob", "delivered", message_id=parent)
    story.note(1040, "bob", "delivered")
    export = story.export(tmp_path / "export", ("alice", "bob"))

    said = line_of(told(export, story.id), "bob")

    assert f"held back for 1 s, waiting for {story.parent.entry.message_id[:8]}" in said


def test_a_refusal_tells_its_reason(tmp_path: Path) -> None:
    story = Told("alice", "bob")
    story.there("alice", "bob")
    story.note(0, "alice", "sent")
    story.note(40, "bob", "refused", "alice", reason="its clock is too far ahead")
    export = story.export(tmp_path / "export", ("alice",))

    assert "(its clock is too far ahead)" in line_of(told(export, story.id, status=1), "bob")


def test_a_message_of_a_reconciliation_is_told_so_where_logs_have_routes(tmp_path: Path) -> None:
    story = Told("alice", "bob", "carol")
    story.there("alice", "bob", "carol")
    story.note(0, "alice", "sent")
    story.note(9000, "bob", "received", "alice", route="transfer")
    story.note(9000, "bob", "delivered")
    story.note(9500, "carol", "received", "bob")
    story.note(9500, "carol", "delivered")
    export = story.export(tmp_path / "export", ("alice", "bob", "carol"))

    said = told(export, story.id)

    assert "in a reconciliation" in line_of(said, "bob")
    assert "by a way that was not recorded" in line_of(said, "carol")


def test_json_has_the_whole_story(lost_once: tuple[Told, Path]) -> None:
    story, export = lost_once

    read = json.loads(told(export, story.id, "--json"))

    assert read["message_id"] == story.id
    took = {one["node"]: one["took_ns"] for one in read["nodes"]}
    assert took[story.key("carol")] == 3_060_000_000
    assert {one["has_it"] for one in read["nodes"]} == {True}


@pytest.mark.parametrize(
    ("message", "node", "sentence"),
    [
        ("zebra", None, "is not the beginning of a message id"),
        ("", None, "is not the beginning of a message id"),
        ("0" * 16, None, "No message whose id begins with 0000"),
        ("ID", "zebra", "No node zebra is in this channel; there are: "),
    ],
)
def test_what_is_no_message_or_node_is_said_in_a_sentence(
    message: str, node: str | None, sentence: str, lost_once: tuple[Told, Path]
) -> None:
    story, export = lost_once
    words = [story.id if message == "ID" else message, *([node] if node else [])]

    [line] = told(export, *words, status=2).splitlines()

    assert sentence in line


def test_a_beginning_that_fits_several_messages_is_said(tmp_path: Path) -> None:
    story = Told("alice", "bob")
    for number in range(16):
        ident = bytes([0xAB, number]) + bytes(30)
        story.note(number, "alice", "sent", message_id=ident)
    export = story.export(tmp_path / "export", ())

    [line] = told(export, "ab", status=2).splitlines()

    assert "Several messages begin with ab (ab00" in line
    assert "give more of the id" in line


def test_results_of_a_store_are_said_to_be_no_directory() -> None:
    [line] = told("s3a://bucket/results", "ab", status=2).splitlines()

    assert "is an address, and this command reads directories of this computer alone" in line
