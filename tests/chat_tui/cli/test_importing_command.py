"""`chat-tui import` as a person types it: its words, its exit status, when it refuses to run."""

from pathlib import Path

from msgspec.structs import replace

from storage.profile.profile import Profile
from sync.machine import ChannelId
from sync.net import clock
from tests.support.storage.archived import export, export_rows, row_of
from tests.support.storage.archives import archive
from tests.support.storage.import_commands import count, imported, lines, profile
from tests.support.storage.stores import membership
from tests.support.sync.entries import CHANNEL, Author

OTHER = ChannelId("0d" * 16)


def test_it_says_what_came_and_what_was_left_out(tmp_path: Path) -> None:
    profile(tmp_path / "data", membership())
    rows = [
        row_of(one) for channel in (CHANNEL, OTHER) for one in archive("ann", 3, channel=channel)
    ]
    source = export_rows(tmp_path / "export", rows, names={OTHER: "plans\x1b[2J"})

    first = imported(tmp_path / "data", source)
    again = imported(tmp_path / "data", source)

    left_out = "Left out: 3 of #plans"
    assert first.exit_code == again.exit_code == 0
    assert lines(first)[0] == "3 new, 0 already here, 0 refused."
    assert lines(again)[0] == "0 new, 3 already here, 0 refused."
    assert lines(first)[1].startswith(left_out)
    assert "\x1b" not in first.output
    assert "join that channel" in first.output


def test_another_channel_of_the_same_name_is_told_as_such(tmp_path: Path) -> None:
    profile(tmp_path / "data", membership(OTHER, "plans"))
    rows = [row_of(one) for one in archive("ann", 3, channel=CHANNEL)]
    source = export_rows(tmp_path / "export", rows, names={CHANNEL: "plans"})

    result = imported(tmp_path / "data", source)

    assert lines(result)[1] == (
        f"Left out: 3 of another channel called #plans ({CHANNEL[:8]}) than the one that you are "
        "in. To have them, join that one by its invite code, then import again."
    )


def test_what_was_refused_is_told_and_makes_the_exit_status_1(tmp_path: Path) -> None:
    profile(tmp_path / "data", membership())
    false = row_of(Author("ann").write()) | {"signature": bytes(64)}

    result = imported(tmp_path / "data", export_rows(tmp_path / "export", [false]))

    assert result.exit_code == 1
    assert lines(result) == [
        "0 new, 0 already here, 1 refused.",
        "Refused: 1: the signature is not its author's.",
    ]
    assert count(tmp_path / "data") == 0


def test_one_channel_may_be_named(tmp_path: Path) -> None:
    profile(tmp_path / "data", membership(), membership(OTHER, "plans"))
    both = [one for channel in (CHANNEL, OTHER) for one in archive("ann", 3, channel=channel)]
    source = export(tmp_path / "export", both)

    result = imported(tmp_path / "data", source, "--channel", "#plans")

    assert lines(result) == ["3 new, 0 already here, 0 refused."]
    assert count(tmp_path / "data") == 3
    refused = imported(tmp_path / "data", source, "--channel", "nowhere")
    assert refused.exit_code == 2
    assert "/join it" in refused.output


def test_a_channel_of_two_is_named_as_the_chat_names_it(tmp_path: Path) -> None:
    of_two = replace(membership(OTHER, "bob"), direct=Author("bob").peer_id)
    profile(tmp_path / "data", membership(CHANNEL, "bob"), of_two)
    both = [one for channel in (CHANNEL, OTHER) for one in archive("ann", 3, channel=channel)]
    source = export(tmp_path / "export", both)

    alone = imported(tmp_path / "data", source, "--channel", "@bob")
    assert lines(alone) == ["3 new, 0 already here, 0 refused."]
    assert count(tmp_path / "data") == 3
    other = imported(tmp_path / "data", source, "--channel", "#bob")
    assert lines(other) == ["3 new, 0 already here, 0 refused."]


def test_it_does_not_run_while_the_chat_is_open(tmp_path: Path) -> None:
    profile(tmp_path / "data", membership())
    source = export(tmp_path / "export", archive("ann", 3, channel=CHANNEL))
    open_chat = Profile.open(tmp_path / "data", "default", clock.draw)
    try:
        result = imported(tmp_path / "data", source)
    finally:
        open_chat.close()

    assert result.exit_code == 2
    assert "The chat or another import uses this profile" in result.output
    assert "close it, then import again" in result.output
    assert result.output.casefold().count("close it") == 1, "one advice is enough"
    assert count(tmp_path / "data") == 0


def test_a_profile_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    source = export(tmp_path / "export", archive("ann", 3, channel=CHANNEL))

    result = imported(tmp_path / "data", source)

    assert result.exit_code == 2, "1 says that some were refused"
    assert "There is no profile default" in result.output
    assert not (tmp_path / "data").exists()
